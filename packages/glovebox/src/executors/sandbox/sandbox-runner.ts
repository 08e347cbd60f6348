import { GloveboxError } from "../../core/index.ts"
import { abortable } from "../../internal/abortable.ts"
import type { SandboxPolicy } from "../../policy/index.ts"
import type { CodeResult, SandboxReport } from "../code-result.ts"
import type { PoolState } from "../pool-state.ts"
import type { Workspace, WorkspaceLimits } from "../workspace.ts"
import { type CallEnd, artifactsOf, codeResult, runCall } from "./call.ts"
import { claimSandbox } from "./claim-sandbox.ts"
import type { PlannedBlock } from "./plan-blocks.ts"
import { RunSource } from "./run-source.ts"
import type { ExecuteCall, RunningExecutor } from "./running-executor.ts"
import type { SandboxAgent } from "./sandbox-agent.ts"
import type { SandboxLauncher } from "./sandbox-launcher.ts"
import { SandboxPool } from "./sandbox-pool.ts"
import type { LeasedSandbox, SandboxSource } from "./sandbox-source.ts"
import type { Sandbox } from "./sandbox.ts"
import { SessionSource } from "./session-source.ts"

export interface SandboxRunnerOptions {
  readonly launcher: SandboxLauncher
  /** The policy as it is now. */
  readonly policy: () => SandboxPolicy
  /** A fresh sandbox for each call, or one for all. */
  readonly isolation: "run" | "session"
  /** Sandboxes that wait, ready. */
  readonly pool: { readonly size: number; readonly idleLease: number }
  /** Where files are between calls. */
  readonly workspace: Workspace | undefined
  /** Whether the workspace is a folder of this machine, which a session then mirrors. */
  readonly isFolder: boolean
  /** How many files to bring back; undefined for none. */
  readonly carry: WorkspaceLimits | undefined
  readonly deletesCodeFiles: boolean
  /** Whether Python runs in the interpreter that is ready. */
  readonly prefersReady: boolean
  /** Whether a session's sandbox ends with the runner. @default true */
  readonly endsSession?: boolean | undefined
  /** Whether each sandbox is attacked before code runs in it. @default false */
  readonly claims?: boolean | undefined
}

const SETTLE_MS = 1_000
const SANDBOX_ENDED = "The sandbox was ended, and with it its files and variables."

/** Runs calls in the sandboxes of a launcher. */
export class SandboxRunner implements RunningExecutor {
  readonly #options: SandboxRunnerOptions
  readonly #source: SandboxSource
  readonly #pool: SandboxPool
  readonly #claimed = new WeakSet<Sandbox>()
  // What a call lost that could not say so, because it rejected.
  #untoldLoss: string | undefined

  private constructor(options: SandboxRunnerOptions, source: SandboxSource, pool: SandboxPool) {
    this.#options = options
    this.#source = source
    this.#pool = pool
  }

  /** Makes the first sandbox; one that cannot be made is the error. The runner ends the launcher. */
  static async start(options: SandboxRunnerOptions, signal: AbortSignal): Promise<SandboxRunner> {
    const { launcher, workspace } = options
    const isSession = options.isolation === "session"
    const pool = new SandboxPool({
      size: isSession ? Math.min(1, options.pool.size) : options.pool.size,
      // The one sandbox of a session is not to have a second beside it.
      refills: !isSession,
      idleLeaseMs: options.pool.idleLease,
      launch: async (closing) => launcher.launch(closing),
    })
    const source = isSession
      ? new SessionSource(pool, options.isFolder ? workspace : undefined, options.endsSession !== false)
      : new RunSource(pool, workspace)
    const runner = new SandboxRunner(options, source, pool)
    try {
      await abortable(pool.fill(), signal)
      return runner
    } catch (error) {
      await runner.close()
      throw error
    }
  }

  get pool(): PoolState {
    return this.#pool.state
  }

  async execute(call: ExecuteCall): Promise<CodeResult> {
    const startedAt = performance.now()
    const leased = await this.#acquire(call.signal)
    const { agent } = leased.sandbox
    let isAlive = false
    agent.ref(true)
    try {
      await this.#claim(leased, call.signal)
      this.#checkPrograms(leased.sandbox, call.blocks)
      if (call.flow) {
        call.flow.pause = () => agent.pause()
        call.flow.resume = () => agent.resume()
      }
      call.onEvent({ type: "started", blocks: call.blocks.length })
      leased.sandbox.egress?.listen((event) => call.onEvent({ type: "egress", ...event }))
      const end = await this.#run(leased.sandbox, call)
      isAlive = end.isAlive
      return await this.#finish(end, leased, call, startedAt)
    } catch (error) {
      // A session goes on when the agent has ended the block in time.
      if (this.#options.isolation === "session" && !isRefused(error)) isAlive = await this.#settles(agent)
      if (!isAlive) this.#untoldLoss = SANDBOX_ENDED
      throw error
    } finally {
      leased.sandbox.egress?.listen(undefined)
      agent.ref(false)
      this.#source.release(leased, isAlive)
    }
  }

  async close(): Promise<void> {
    await this.#source.close()
    await this.#options.launcher.close()
  }

  async #claim({ sandbox, pooled }: LeasedSandbox, signal: AbortSignal): Promise<void> {
    const { claims, launcher, policy, isolation } = this.#options
    if (!claims || this.#claimed.has(sandbox)) return
    const path = isolation === "session" ? "session" : pooled ? "pooled" : "cold"
    await claimSandbox({ sandbox, launcher, policy: policy().fields, path, signal })
    this.#claimed.add(sandbox)
  }

  async #acquire(signal: AbortSignal): Promise<LeasedSandbox> {
    try {
      return await this.#source.acquire(signal)
    } catch (error) {
      if (GloveboxError.is(error, "SANDBOX_LOST")) this.#untoldLoss = SANDBOX_ENDED
      throw error
    }
  }

  async #run(sandbox: Sandbox, call: ExecuteCall): Promise<CallEnd> {
    const { launcher, policy, carry, deletesCodeFiles, prefersReady } = this.#options
    const { files, gone, confirm } = await this.#source.gap()
    return runCall({
      agent: sandbox.agent,
      limits: policy().fields.limits,
      blocks: call.blocks,
      prefersReady,
      files,
      gone,
      onPut: confirm,
      carry,
      deletesCodeFiles,
      ranOutOfMemory: async () => launcher.ranOutOfMemory(sandbox),
      onEvent: call.onEvent,
      signal: call.signal,
    })
  }

  async #finish(
    end: CallEnd,
    leased: LeasedSandbox,
    call: ExecuteCall,
    startedAt: number,
  ): Promise<CodeResult> {
    const isKept = await this.#source.keep(end.changes)
    const artifacts = artifactsOf(end.changes, call.blocks)
    for (const artifact of artifacts) call.onEvent({ type: "artifact", artifact })
    const plain = codeResult(
      end.blocks,
      artifacts,
      end.changes.over || !isKept,
      this.#report(leased),
      performance.now() - startedAt,
    )
    const result = {
      ...plain,
      ...this.#stateOf(leased.sandbox.agent, end.isAlive),
      ...egressOf(leased.sandbox),
    }
    call.onEvent({ type: "finished", result })
    return result
  }

  // Whether the agent is free for another call soon; files that came after all are kept.
  async #settles(agent: SandboxAgent): Promise<boolean> {
    const late = AbortSignal.timeout(agent.killGraceMs ?? SETTLE_MS)
    try {
      await abortable(agent.whenIdle(), late)
      const changes = await abortable(agent.undelivered(), late)
      if (changes) await this.#source.keep(changes)
    } catch {
      return false
    }
    return !agent.lost.aborted
  }

  #report({ sandbox, pooled }: LeasedSandbox): SandboxReport {
    const { launcher, policy, isolation } = this.#options
    return { kind: launcher.kind, policySha256: policy().sha256, isolation, pooled, ...sandbox.facts }
  }

  #stateOf(agent: SandboxAgent, isAlive: boolean): Pick<CodeResult, "stateLost" | "stateLostBecause"> {
    const untold = this.#untoldLoss
    this.#untoldLoss = undefined
    if (!agent.takeLoss) return {}
    const taken = agent.takeLoss()
    const because = isAlive ? (taken ?? untold) : SANDBOX_ENDED
    return because === undefined ? { stateLost: false } : { stateLost: true, stateLostBecause: because }
  }

  #checkPrograms({ agent }: Sandbox, blocks: readonly PlannedBlock[]): void {
    for (const { language, argv } of blocks) {
      const program = argv[0] ?? ""
      if (!agent.programs[program]) throw this.#options.launcher.missingProgram(program, language)
    }
  }
}

function isRefused(error: unknown): boolean {
  return GloveboxError.is(error, "SANDBOX_NOT_AS_PROMISED")
}

function egressOf({ egress }: Sandbox): Pick<CodeResult, "egress" | "egressTruncated"> {
  if (!egress) return {}
  const { connections, truncated } = egress.takeRecords()
  return { egress: connections, egressTruncated: truncated }
}
