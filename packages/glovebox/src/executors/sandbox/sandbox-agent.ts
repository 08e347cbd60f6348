import type { WorkspaceFile } from "../workspace-file.ts"

export interface RunRequest {
  /** The program, its arguments, and the file last. */
  readonly argv: readonly string[]
  /**
   * Started anew, by fork of the interpreter that is ready, or as a cell of the agent's kernel; `kernel` runs nothing
   * and waits for the kernel to be ready.
   */
  readonly how: "exec" | "fork" | "cell" | "kernel"
  /** Takes a frame that only some agents send; false when it is none of those. */
  readonly onFrame?: ((type: string, payload: Buffer) => boolean) | undefined
  readonly onOutput: (stream: "stdout" | "stderr", bytes: Buffer) => void
  /** What will be collected as soon as the block is over, so that the agent need not be told then. */
  readonly thenCollect?: CollectLimits | undefined
}

export interface RunEnd {
  readonly code: number | null
  readonly signal: number | null
  readonly limits: readonly ("memory" | "pids" | "workspace")[]
  /** Of an agent with a kernel. */
  readonly kernel?:
    | {
        /** How many it has started. */
        readonly number: number
        /** Whether the last one lives. */
        readonly alive: boolean
        /** The greatest number among the files named `output-<number>`. */
        readonly lastOutput?: number | undefined
      }
    | undefined
}

export interface CollectLimits {
  readonly maxFiles: number
  readonly maxBytes: number
}

export interface Collected {
  readonly files: readonly WorkspaceFile[]
  readonly removed: readonly string[]
  /** Whether a limit cut it short. */
  readonly over: boolean
}

/** What the host asks of the agent inside a container, whichever agent it is. One thing at a time. */
export interface SandboxAgent {
  /** Where each program was found. */
  readonly programs: Readonly<Record<string, string | null>>
  /** Whether Python code can run by fork. */
  readonly hasReadyInterpreter: boolean
  /** What the agent saw of its own confinement. */
  readonly facts: Readonly<Record<string, unknown>>
  /** Aborts, with the reason, when the container is gone or has misbehaved. */
  readonly lost: AbortSignal
  /** Makes sure that what runs such a block is started, which is no part of the block's time. */
  prepare?(argv: readonly string[]): Promise<void>
  /** Of an agent that keeps variables between calls: why they are gone, said once. */
  takeLoss?(): string | undefined
  put(files: Iterable<WorkspaceFile>): Promise<void>
  remove(paths: readonly string[]): void
  /** Resolves when nothing of the block is left. */
  run(request: RunRequest): Promise<RunEnd>
  /** Ends the block that runs; its `run` resolves. */
  kill(): void
  /** How long that may take before the sandbox counts as lost. @default a second */
  readonly killGraceMs?: number | undefined
  collect(limits: CollectLimits): Promise<Collected>
  /** What was collected last has been taken. */
  delivered(): void
  /** Takes what was collected last and that nobody got, because the call was cancelled meanwhile. */
  undelivered(): Promise<Collected | undefined>
  /** Resolves when the agent has nothing to do, or is lost. */
  whenIdle(): Promise<void>
  /** Tells the agent that there is time to make its interpreter ready. */
  warm(): void
  /** Tells an idle agent that its host is alive. */
  ping(): void
  /** Whether the process may end while the agent has nothing to do. */
  ref(isNeeded: boolean): void
  pause(): void
  resume(): void
  close(): void
}
