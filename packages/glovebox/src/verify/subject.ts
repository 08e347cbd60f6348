import type { CodeExecutor } from "../executors/code-executor.ts"
import type { PolicyInput, Tier } from "../policy/index.ts"
import type { LabLeftover, ProbeFacts, Weakening } from "../probes/index.ts"

/** What of the machine the sandboxes stand on. */
export interface SubjectDescription {
  readonly kernel: string | undefined
  readonly engine: string | undefined
  readonly runtime: string | undefined
  readonly imageDigest: string | undefined
}

/** How a sandbox of the kind under test is to be made. */
export interface SubjectSettings {
  readonly policy: PolicyInput
  /** Calls share one sandbox, whatever the path is. */
  readonly isSession: boolean
  /** How many sandboxes wait on a path with a pool. */
  readonly pool: number
  readonly workDir?: string | undefined
  /** Settings that are taken away. */
  readonly weakenings: readonly Weakening[]
  readonly token: string
  /** A folder of the host that was made for the probes. */
  readonly folder: string
}

/** The kind of sandbox under test. */
export interface Subject extends AsyncDisposable {
  readonly tier: Tier
  /** Finds out what probes have to know; the first use of the sandbox. */
  prepare(
    policy: PolicyInput,
    signal: AbortSignal,
  ): Promise<{ readonly facts: ProbeFacts } & SubjectDescription>
  /** An executor of it, not started. */
  open(settings: SubjectSettings): CodeExecutor
  /** Whether a setting can be taken away here. */
  canWeaken(weakening: Weakening): boolean
  /** A sandbox whose connection is cut; undefined where none outlives that. */
  abandon?(settings: SubjectSettings, signal: AbortSignal): Promise<LabLeftover>
  keptLog(containerId: string): Promise<string | undefined>
  hasContainer(containerId: string): Promise<boolean | undefined>
  /** Addresses of this machine at which a sandbox would ask for names. */
  readonly nameServers: readonly string[]
}
