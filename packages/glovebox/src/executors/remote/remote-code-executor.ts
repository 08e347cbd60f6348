import { randomUUID } from "node:crypto"
import { GloveboxError, agentId, authorizeAccess, currentAccess } from "../../core/index.ts"
import { abortable } from "../../internal/abortable.ts"
import type { PolicyChange, SandboxPolicy } from "../../policy/index.ts"
import { checkCallOptions } from "../check-call-options.ts"
import { type CodeBlock, checkCodeBlocks } from "../code-block.ts"
import type { CodeExecutor, ExecuteOptions, StreamOptions } from "../code-executor.ts"
import type { CodeResult } from "../code-result.ts"
import type { ExecutionEvent } from "../execution-event.ts"
import { type InputFile, checkInputFiles } from "../input-file.ts"
import { resultOf } from "../result-of.ts"
import { FarEnd, isGone } from "./far-end.ts"
import { writeFiles } from "./file-frames.ts"
import { EXECUTOR_MESSAGES, ExecutorAck, ExecutorPut } from "./messages.ts"
import { type FarExecutor, checkWithin } from "./read-description.ts"
import { type RemoteCodeExecutorOptions, type RemoteOptions, readRemoteOptions } from "./remote-options.ts"
import { InstanceGone, RemoteRun } from "./remote-run.ts"
import { uploadBody } from "./upload-body.ts"
import type { EventChoice } from "./write-event.ts"

const MAX_ATTEMPTS = 3
const LOST =
  "The executor of the earlier calls is gone, and their files with it: it was idle for too long, or its machine was lost."

/**
 * Runs code blocks on another machine, through an agent runtime: `serveCodeExecutor` is there, with the sandbox and
 * its policy.
 *
 * @example
 * await using executor = new RemoteCodeExecutor({ runtime })
 * const { output } = await executor.executeCodeBlocks([{ language: "python", code: "print(6 * 7)" }])
 */
export class RemoteCodeExecutor implements CodeExecutor {
  readonly #options: RemoteOptions
  readonly #farEnd: FarEnd
  #far: FarExecutor | undefined
  #starting: Promise<FarExecutor> | undefined
  #stopping: Promise<void> | undefined
  #ended = new AbortController()
  #isStopped = false
  #stops = 0
  // Whether there are files of earlier calls that could be lost, and whether they were.
  #hasRun = false
  #hasLost = false

  constructor(options: RemoteCodeExecutorOptions) {
    this.#options = readRemoteOptions(options)
    const { runtime, agentType, key = randomUUID(), replyTimeoutMs } = this.#options
    this.#farEnd = new FarEnd(runtime, agentId(agentType, key), replyTimeoutMs)
    for (const type of EXECUTOR_MESSAGES) runtime.addMessageType(type)
  }

  /** A secret of this client: who knows it shares its files. */
  get key(): string {
    return this.#farEnd.id.key
  }

  /** Which kind of executor the far end says it has; "remote" before it has said so. */
  get kind(): string {
    return this.#far?.kind ?? "remote"
  }

  /** The policy that the far end says it keeps; undefined before it has said so. */
  get policy(): SandboxPolicy | undefined {
    return this.#far?.policy
  }

  /** What code can reach there that no policy tells of. */
  get beyondPolicy(): readonly PolicyChange[] {
    return this.#far?.beyondPolicy ?? []
  }

  /** Whether the far end says that there is no wall between the code and its machine. */
  get runsOnHost(): boolean {
    return this.#far?.runsOnHost === true
  }

  /** What to tell a model of the functions that its code can import; empty before the start. */
  describeFunctions(): string {
    return this.#far?.functions ?? ""
  }

  /** Makes everything ready at the far end, and learns what it is. */
  async start(options: { readonly signal?: AbortSignal | undefined } = {}): Promise<void> {
    checkCallOptions(options)
    const stops = this.#stops
    await abortable(this.#stopping ?? Promise.resolve(), options.signal)
    if (stops !== this.#stops) throw stopped()
    this.#isStopped = false
    await this.#start(options.signal)
  }

  /** Ends every run of this key at the far end; files are kept there for a while. */
  async stop(): Promise<void> {
    this.#stops += 1
    await this.#halt("stop")
  }

  async restart(): Promise<void> {
    const stops = this.#stops
    await this.#halt("restart")
    if (stops !== this.#stops) throw stopped()
    await this.start()
  }

  /** Puts files into the workspace at the far end, where calls that begin later find them. */
  async putFiles(
    files: readonly InputFile[],
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<void> {
    checkCallOptions(options)
    const body = writeFiles(checkInputFiles(files))
    const signal = this.#signal(options.signal)
    const shown = this.#far
    for (let attempt = 1; ; attempt += 1) {
      const far = await this.#known(shown, signal)
      try {
        const last = await uploadBody(this.#farEnd, randomUUID(), body, signal)
        const put = ExecutorPut({ ...last, instance: far.instance })
        const { instance } = await this.#farEnd.ask(put, { expect: ExecutorAck, signal })
        if (instance !== far.instance) throw new InstanceGone()
        this.#hasRun = true
        return
      } catch (error) {
        this.#checkRetry(far, error, attempt, signal)
      }
    }
  }

  async executeCodeBlocks(blocks: readonly CodeBlock[], options: ExecuteOptions = {}): Promise<CodeResult> {
    checkCallOptions(options)
    const { onOutput } = options
    return resultOf(this.#run(blocks, onOutput ? "output" : "none", options.signal), onOutput)
  }

  async *stream(
    blocks: readonly CodeBlock[],
    options: StreamOptions = {},
  ): AsyncGenerator<ExecutionEvent, void, undefined> {
    checkCallOptions(options)
    yield* this.#run(blocks, "all", options.signal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  async *#run(
    blocks: readonly CodeBlock[],
    events: EventChoice,
    given: AbortSignal | undefined,
  ): AsyncGenerator<ExecutionEvent, void, undefined> {
    checkCodeBlocks(blocks)
    const signal = this.#signal(given)
    const shown = this.#far
    for (let attempt = 1; ; attempt += 1) {
      const far = await this.#known(shown, signal)
      try {
        for await (const event of this.#remoteRun(far, blocks, events, signal).events()) {
          this.#hasRun = true
          yield this.#withLoss(event)
        }
        return
      } catch (error) {
        this.#checkRetry(far, error, attempt, signal)
      }
    }
  }

  /** Ends with the caller's, and when this executor stops. */
  #signal(given: AbortSignal | undefined): AbortSignal {
    given?.throwIfAborted()
    if (this.#isStopped) throw stopped()
    return given ? AbortSignal.any([given, this.#ended.signal]) : this.#ended.signal
  }

  #remoteRun(
    { instance }: FarExecutor,
    blocks: readonly CodeBlock[],
    events: EventChoice,
    signal: AbortSignal,
  ): RemoteRun {
    const { maxResultBytes } = this.#options
    return new RemoteRun({ farEnd: this.#farEnd, instance, blocks, events, maxResultBytes, signal })
  }

  /** The far executor, once it has said what it is, and whoever runs code here may use such a one. */
  async #known(shown: FarExecutor | undefined, signal: AbortSignal): Promise<FarExecutor> {
    const far = await this.#start(signal)
    checkWithin(far, shown)
    const access = currentAccess()
    if (access) {
      const { kind: name, policy, beyondPolicy } = far
      await authorizeAccess(access, { kind: "executor", name, policy, beyondPolicy }, signal)
    }
    return far
  }

  /** Throws what a call failed with, unless the far end said that it had done nothing, and is another one now. */
  #checkRetry(far: FarExecutor, error: unknown, attempt: number, signal: AbortSignal): void {
    signal.throwIfAborted()
    const isUnknown = error instanceof InstanceGone
    // What comes next may be another executor with another policy: it is asked first.
    if ((isUnknown || isGone(error)) && this.#far === far) this.#starting = undefined
    if (!isUnknown) throw error
    if (attempt < MAX_ATTEMPTS) return
    throw new GloveboxError(
      "SANDBOX_LOST",
      "The executor at the far end is another one each time it is asked.",
    )
  }

  #withLoss(event: ExecutionEvent): ExecutionEvent {
    if (event.type !== "finished" || !this.#hasLost) return event
    this.#hasLost = false
    return { type: "finished", result: { ...event.result, stateLost: true, stateLostBecause: LOST } }
  }

  async #start(signal?: AbortSignal): Promise<FarExecutor> {
    // One caller's abort must not fail the others' start.
    const starting = (this.#starting ??= this.#control("start", this.#ended.signal))
    try {
      return await abortable(starting, signal)
    } catch (error) {
      if (signal?.aborted !== true && this.#starting === starting) this.#starting = undefined
      throw error
    }
  }

  async #halt(action: "stop" | "restart"): Promise<void> {
    this.#isStopped = true
    // Nothing was ever asked of the far end: there is nothing to end.
    if (action === "stop" && !this.#far && !this.#starting && !this.#stopping) return
    this.#ended.abort(stopped())
    this.#ended = new AbortController()
    this.#starting = undefined
    const halting = this.#haltFarEnd(action)
    this.#stopping = halting
    await halting.finally(() => {
      if (this.#stopping === halting) this.#stopping = undefined
    })
    if (action === "restart") {
      this.#hasRun = false
      this.#hasLost = false
    }
  }

  async #haltFarEnd(action: "stop" | "restart"): Promise<void> {
    try {
      await this.#control(action)
    } catch (error) {
      // A far end that is gone ends by itself what nobody asks for.
      if (action === "restart" || !isGone(error)) throw error
    }
  }

  async #control(action: "start" | "stop" | "restart", signal?: AbortSignal): Promise<FarExecutor> {
    const far = await this.#farEnd.control(action, signal)
    if (this.#far && this.#far.instance !== far.instance && this.#hasRun) this.#hasLost = true
    this.#far = far
    return far
  }
}

function stopped(): GloveboxError {
  return new GloveboxError("EXECUTOR_STOPPED", "The executor was stopped. Call start() to use it again.")
}
