import type { CodeBlock } from "./code-block.ts"
import type { CodeResult } from "./code-result.ts"
import type { ExecutionEvent, OutputEvent } from "./execution-event.ts"
import type { PoolState } from "./pool-state.ts"
import type { InputFile } from "./input-file.ts"
import type { KnownSecret } from "./known-secret.ts"
import type { SandboxEvent } from "./sandbox-event.ts"

export interface ExecuteOptions {
  /** Ends the run at once; the call rejects with its reason. */
  readonly signal?: AbortSignal | undefined
  /** Called with output while the code runs. */
  readonly onOutput?: ((event: OutputEvent) => void) | undefined
}

export interface StreamOptions {
  readonly signal?: AbortSignal | undefined
}

/**
 * Runs code blocks somewhere. Making one does nothing yet: the first use starts it, `stop()` and
 * `await using` end it, and it can be started again.
 */
export interface CodeExecutor extends AsyncDisposable {
  /** True where there is no wall between the code and this machine. @default false */
  readonly runsOnHost?: boolean | undefined
  /** The sandboxes that wait and those that work, where there is a pool of them. */
  readonly pool?: PoolState | undefined
  start(options?: { readonly signal?: AbortSignal | undefined }): Promise<void>
  stop(): Promise<void>
  /** Ends what runs, and forgets the files. */
  restart(): Promise<void>
  /** Puts files into the workspace, where calls that begin later find them; only of those that keep files between calls. */
  putFiles?(
    files: readonly InputFile[],
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<void>
  /** Tells of each secret of its policy whose value it knows, now and at each start; only of those that have secrets. */
  onSecret?(listener: (secret: KnownSecret) => void): Disposable
  /** Tells of each sandbox that begins or ends; only of those that know. */
  onSandbox?(listener: (event: SandboxEvent) => void): Disposable
  /** Runs the blocks in order up to the first that fails. Code that fails or overruns is a result, not an error. */
  executeCodeBlocks(blocks: readonly CodeBlock[], options?: ExecuteOptions): Promise<CodeResult>
  /** The same, as events while it happens; leaving the loop ends the run. */
  stream(
    blocks: readonly CodeBlock[],
    options?: StreamOptions,
  ): AsyncGenerator<ExecutionEvent, void, undefined>
}
