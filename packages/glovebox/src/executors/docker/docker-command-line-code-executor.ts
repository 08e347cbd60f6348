import { GloveboxError } from "../../core/index.ts"
import { abortable } from "../../internal/abortable.ts"
import { AsyncQueue } from "../../internal/async-queue.ts"
import { Slots } from "../../internal/slots.ts"
import { TypedEmitter } from "../../internal/typed-emitter.ts"
import type { PolicyChange, SandboxPolicy } from "../../policy/index.ts"
import { type CodeBlock, checkCodeBlocks } from "../code-block.ts"
import type { CodeExecutor, ExecuteOptions, StreamOptions } from "../code-executor.ts"
import type { CodeResult } from "../code-result.ts"
import type { ExecutionEvent } from "../execution-event.ts"
import { FolderWorkspace } from "../folder-workspace.ts"
import { describeFunctions } from "../functions/functions-module.ts"
import { MemoryWorkspace } from "../memory-workspace.ts"
import type { Workspace } from "../workspace.ts"
import {
  type DockerCommandLineCodeExecutorOptions,
  type DockerOptions,
  readDockerOptions,
} from "./docker-options.ts"
import type { DockerExecutorEvent } from "./executor-event.ts"
import { checkCallOptions } from "../check-call-options.ts"
import { newOwner } from "./ownership.ts"
import { type PlannedBlock, planBlocks } from "./plan-blocks.ts"
import { RunningExecutor } from "./running-executor.ts"

const STREAM_LIMIT_BYTES = 1024 ** 2

/**
 * Runs code blocks in hardened Docker containers: by default a fresh one for each call, with no
 * network, a read-only root, no capabilities, and a bound on everything.
 *
 * @example
 * await using executor = new DockerCommandLineCodeExecutor()
 * const { output } = await executor.executeCodeBlocks([{ language: "python", code: "print(6 * 7)" }])
 */
export class DockerCommandLineCodeExecutor implements CodeExecutor {
  readonly #options: DockerOptions
  readonly #workspace: Workspace | undefined
  readonly #slots: Slots
  readonly #events = new TypedEmitter<DockerExecutorEvent>(() => {})
  #running: Promise<RunningExecutor> | undefined
  #stopping: Promise<void> | undefined
  #ended = new AbortController()
  #isStopped = false
  #stops = 0

  constructor(options: DockerCommandLineCodeExecutorOptions = {}) {
    this.#options = readDockerOptions(options)
    const { carry, workDir, isolation, concurrency } = this.#options
    if (carry) {
      this.#workspace =
        workDir === undefined ? new MemoryWorkspace(carry) : new FolderWorkspace(workDir, carry)
    }
    this.#slots = new Slots(isolation === "session" ? 1 : concurrency)
  }

  get policy(): SandboxPolicy {
    return this.#options.policy
  }

  /** Everything in which this executor is wider than deny-all: the policy's, and devices, which no policy has. */
  widenings(): readonly PolicyChange[] {
    const devices = this.#options.deviceRequests.map((request): PolicyChange => ({
      path: "deviceRequests",
      from: "absent",
      to: JSON.stringify(request),
      effect: "widens",
    }))
    return [...this.policy.widenings(), ...devices]
  }

  /** Listens to what happens around the runs: pulls, containers made and removed. */
  on<Type extends DockerExecutorEvent["type"]>(
    type: Type,
    listener: (event: Extract<DockerExecutorEvent, { type: Type }>) => void,
  ): Disposable {
    return this.#events.on(type, listener)
  }

  /** What to tell a model of the functions that its code can import. */
  describeFunctions(): string {
    return describeFunctions(this.#options.functions, this.#options.functionsModule)
  }

  /** Finds the engine and the image, and makes the first containers. */
  async start(options: { readonly signal?: AbortSignal | undefined } = {}): Promise<void> {
    checkCallOptions(options)
    const stops = this.#stops
    await abortable(this.#stopping ?? Promise.resolve(), options.signal)
    // Stopped once more while it waited: the later word counts.
    if (stops !== this.#stops) throw stopped()
    this.#isStopped = false
    await this.#start(options.signal)
  }

  /** Ends every run and every container of this executor; calls that were running reject. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#stops += 1
    this.#stopping ??= this.#stop().finally(() => {
      this.#stopping = undefined
    })
    await this.#stopping
  }

  async restart(): Promise<void> {
    await this.stop()
    await this.#workspace?.clear()
    await this.start()
  }

  async executeCodeBlocks(blocks: readonly CodeBlock[], options: ExecuteOptions = {}): Promise<CodeResult> {
    checkCallOptions(options)
    const { onOutput } = options
    if (!onOutput) return this.#execute(this.#plan(blocks), { signal: options.signal, onEvent: () => {} })
    const failed = new AbortController()
    const signal = options.signal ? AbortSignal.any([options.signal, failed.signal]) : failed.signal
    return this.#execute(this.#plan(blocks), {
      signal,
      onEvent: (event) => {
        if (event.type !== "stdout" && event.type !== "stderr") return
        try {
          onOutput(event)
        } catch (error) {
          // The caller's own error is the call's.
          failed.abort(error)
        }
      },
    })
  }

  async *stream(
    blocks: readonly CodeBlock[],
    options: StreamOptions = {},
  ): AsyncGenerator<ExecutionEvent, void, undefined> {
    checkCallOptions(options)
    const left = new AbortController()
    const signal = options.signal ? AbortSignal.any([options.signal, left.signal]) : left.signal
    const flow = { pause: (): void => {}, resume: (): void => {} }
    const queue = new AsyncQueue<ExecutionEvent>({
      limit: STREAM_LIMIT_BYTES,
      onFull: () => flow.pause(),
      onDrain: () => flow.resume(),
    })
    const onEvent = (event: ExecutionEvent): void => {
      queue.push(event, "text" in event ? event.text.length + 64 : 64)
    }
    const running = this.#execute(this.#plan(blocks), { signal, onEvent, flow }).then(
      () => queue.close(),
      (error: unknown) => queue.fail(error),
    )
    try {
      yield* queue
    } finally {
      left.abort(new GloveboxError("EXECUTOR_STOPPED", "The loop over the run's events was left."))
      await running
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  #plan(blocks: readonly CodeBlock[]): PlannedBlock[] {
    checkCodeBlocks(blocks)
    return planBlocks(blocks, this.#options.languages)
  }

  async #execute(
    blocks: readonly PlannedBlock[],
    call: {
      readonly signal: AbortSignal | undefined
      readonly onEvent: (event: ExecutionEvent) => void
      readonly flow?: { pause: () => void; resume: () => void }
    },
  ): Promise<CodeResult> {
    if (this.#isStopped) throw stopped()
    const ended = this.#ended.signal
    const signal = call.signal ? AbortSignal.any([call.signal, ended]) : ended
    const giveBack = await this.#slots.take(signal)
    try {
      const running = await this.#start(signal)
      return await running.execute({ ...call, blocks, signal })
    } finally {
      giveBack()
    }
  }

  async #start(signal?: AbortSignal): Promise<RunningExecutor> {
    // One caller's abort must not fail the others' start; the last to leave does not matter either.
    this.#running ??= RunningExecutor.start({
      options: this.#options,
      owner: newOwner(),
      workspace: this.#workspace,
      emit: (event) => this.#events.emit(event),
      signal: this.#ended.signal,
    }).catch((error: unknown) => {
      this.#running = undefined
      throw error
    })
    return abortable(this.#running, signal)
  }

  async #stop(): Promise<void> {
    this.#ended.abort(stopped())
    this.#ended = new AbortController()
    const running = await this.#running?.catch(() => undefined)
    this.#running = undefined
    await running?.close()
  }
}

function stopped(): GloveboxError {
  return new GloveboxError("EXECUTOR_STOPPED", "The executor was stopped. Call start() to use it again.")
}
