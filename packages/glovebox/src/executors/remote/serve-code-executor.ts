import type { AgentRuntime } from "../../core/index.ts"
import { CodeExecutionAgent } from "./code-execution-agent.ts"
import { ExecutorService, type ExecutorServiceStatus } from "./executor-service.ts"
import { EXECUTOR_MESSAGES } from "./messages.ts"
import { type ServeCodeExecutorOptions, readServeOptions } from "./serve-options.ts"

/** Code execution that others can use. */
export interface ServedCodeExecutor extends AsyncDisposable {
  readonly status: ExecutorServiceStatus
  /** Begins nothing new, and waits for the runs that there are; before a runtime's own drain, which waits for no run. */
  drain(options?: { readonly signal?: AbortSignal | undefined }): Promise<void>
  /** Ends what runs, and takes no more; the runtime goes on. */
  close(): Promise<void>
}

/**
 * Lets agents of other machines run code on this one: each key has an executor of its own, made here, with the bounds
 * that are given here. A client can send code and read what comes of it, and nothing else.
 *
 * @example
 * await serveCodeExecutor(runtime, { executor: () => new DockerCommandLineCodeExecutor({ image: "python:3-slim" }) })
 */
export async function serveCodeExecutor(
  runtime: AgentRuntime,
  given: ServeCodeExecutorOptions,
): Promise<ServedCodeExecutor> {
  const options = readServeOptions(given)
  const service = new ExecutorService(runtime, options)
  for (const type of EXECUTOR_MESSAGES) runtime.addMessageType(type)
  // Each run has a reader that waits, and may be cancelled meanwhile; what is beyond that is refused at once.
  const handlers = 2 * options.maxQueuedPerKey + 16
  await runtime.register(options.type, () => new CodeExecutionAgent(service), {
    concurrency: handlers,
    mailbox: { capacity: handlers, whenFull: "reject" },
  })
  const close = (): Promise<void> => service.close()
  return {
    get status() {
      return service.status
    },
    drain: ({ signal } = {}) => service.drain(signal),
    close,
    [Symbol.asyncDispose]: close,
  }
}
