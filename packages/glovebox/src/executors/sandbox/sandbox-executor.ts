import { GloveboxError, authorizeAccess, currentAccess } from "../../core/index.ts"
import { abortable } from "../../internal/abortable.ts"
import { AsyncQueue } from "../../internal/async-queue.ts"
import { Slots } from "../../internal/slots.ts"
import type { PolicyChange, SandboxPolicy, Tier } from "../../policy/index.ts"
import { checkCallOptions } from "../check-call-options.ts"
import { type CodeBlock, checkCodeBlocks } from "../code-block.ts"
import type { CodeExecutor, ExecuteOptions, StreamOptions } from "../code-executor.ts"
import type { CodeResult } from "../code-result.ts"
import type { ExecutionEvent } from "../execution-event.ts"
import type { LanguageTable } from "../languages.ts"
import type { Workspace } from "../workspace.ts"
import { type PlannedBlock, planBlocks } from "./plan-blocks.ts"
import type { RunningExecutor } from "./running-executor.ts"

export interface SandboxExecutorSetup {
  readonly kind: Tier
  readonly languages: LanguageTable
  /** How many calls run at a time. */
  readonly concurrency: number
  /** Files between calls, which `restart()` forgets. */
  readonly workspace: Workspace | undefined
}

interface Call {
  readonly signal: AbortSignal | undefined
  readonly onEvent: (event: ExecutionEvent) => void
  readonly flow?: { pause: () => void; resume: () => void }
}

const STREAM_LIMIT_BYTES = 1024 ** 2
const EGRESS_WEIGHT = 1024

/** What all executors have in common: starting and stopping, turns, streams; `open` is what differs. */
export abstract class SandboxExecutor implements CodeExecutor {
  readonly #setup: SandboxExecutorSetup
  readonly #slots: Slots
  #running: Promise<RunningExecutor> | undefined
  #stopping: Promise<void> | undefined
  #ended = new AbortController()
  #isStopped = false
  #stops = 0

  protected constructor(setup: SandboxExecutorSetup) {
    this.#setup = setup
    this.#slots = new Slots(setup.concurrency)
  }

  get kind(): Tier {
    return this.#setup.kind
  }

  abstract get policy(): SandboxPolicy

  /** What its code can reach that no policy tells of, such as devices. */
  get beyondPolicy(): readonly PolicyChange[] {
    return []
  }

  /** Makes what runs calls until it is closed; called again after a stop. */
  protected abstract open(signal: AbortSignal): Promise<RunningExecutor>

  /** Makes everything ready for the first call. */
  async start(options: { readonly signal?: AbortSignal | undefined } = {}): Promise<void> {
    checkCallOptions(options)
    const stops = this.#stops
    await abortable(this.#stopping ?? Promise.resolve(), options.signal)
    // Stopped once more while it waited: the later word counts.
    if (stops !== this.#stops) throw stopped()
    this.#isStopped = false
    await this.#start(options.signal)
  }

  /** Ends every run and every sandbox of this executor; calls that were running reject. */
  async stop(): Promise<void> {
    this.#stops += 1
    await this.#halt()
  }

  async restart(): Promise<void> {
    const stops = this.#stops
    await this.#halt()
    if (stops === this.#stops) await this.#setup.workspace?.clear()
    // Stopped meanwhile: it is not to run on.
    if (stops !== this.#stops) throw stopped()
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
      queue.push(event, weightOf(event))
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
    return planBlocks(blocks, this.#setup.languages)
  }

  async #execute(blocks: readonly PlannedBlock[], call: Call): Promise<CodeResult> {
    const access = currentAccess()
    if (access) {
      const { kind: name, policy, beyondPolicy } = this
      await authorizeAccess(access, { kind: "executor", name, policy, beyondPolicy }, call.signal)
    }
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
    this.#running ??= this.open(this.#ended.signal).catch((error: unknown) => {
      this.#running = undefined
      throw error
    })
    return abortable(this.#running, signal)
  }

  async #halt(): Promise<void> {
    this.#isStopped = true
    this.#stopping ??= this.#stop().finally(() => {
      this.#stopping = undefined
    })
    await this.#stopping
  }

  async #stop(): Promise<void> {
    this.#ended.abort(stopped())
    this.#ended = new AbortController()
    const running = await this.#running?.catch(() => undefined)
    this.#running = undefined
    await running?.close()
  }
}

function weightOf(event: ExecutionEvent): number {
  if (event.type === "stdout" || event.type === "stderr") return event.text.length + 64
  if (event.type === "egress") return EGRESS_WEIGHT
  if (event.type !== "display") return 64
  return event.outputs.reduce((sum, { data }) => sum + sizeOf(data), 64)
}

function sizeOf(data: unknown): number {
  return typeof data === "string" || data instanceof Uint8Array ? data.length : JSON.stringify(data).length
}

function stopped(): GloveboxError {
  return new GloveboxError("EXECUTOR_STOPPED", "The executor was stopped. Call start() to use it again.")
}
