import { formatDuration } from "../../policy/index.ts"
import type { Artifact, CodeResult } from "../code-result.ts"
import type { ExecutionEvent } from "../execution-event.ts"
import type { RichOutput } from "../rich-output.ts"
import type { ExecuteCall, RunningExecutor } from "../sandbox/running-executor.ts"
import type { Workspace } from "../workspace.ts"
import type { KernelObserver } from "./kernel-observer.ts"
import { OutputArtifacts } from "./output-artifacts.ts"
import { readDisplay } from "./read-display.ts"
import type { RichMessage } from "./rich-message.ts"
import { type ShownLimits, ShownOutputs } from "./shown-outputs.ts"

export interface KernelRunnerOptions {
  /** Makes what runs the calls; called again when the kernel was ended for want of use. */
  readonly open: (observer: KernelObserver, signal: AbortSignal) => Promise<RunningExecutor>
  /** After so many milliseconds without a call the kernel is ended; undefined for never. */
  readonly idleTimeout: number | undefined
  readonly richOutput: ShownLimits
  /** Whether outputs become files. */
  readonly makesFiles: boolean
  /** A folder of this machine that gets these files too. */
  readonly folder: Workspace | undefined
}

/** A call while it runs. */
interface Current {
  readonly shown: ShownOutputs
  readonly onEvent: (event: ExecutionEvent) => void
  block: number
  messages: number
  notes: Set<string>
}

const MAX_MESSAGES = 10_000
// What IPython's own wrappers give as text, where their content is another form.
const SAYS_NOTHING = /^<IPython\.core\.display\.\w+ object>$/
const NOTHING = { text: "", note: "" }

/** Runs calls in a kernel, and adds to their results what it showed and whether it lost its variables. */
export class KernelRunner implements RunningExecutor, KernelObserver {
  readonly #options: KernelRunnerOptions
  readonly #artifacts = new OutputArtifacts()
  #running: Promise<RunningExecutor> | undefined
  #closing = Promise.resolve()
  #current: Current | undefined
  #idle: NodeJS.Timeout | undefined
  // Whether code has run in the kernel that there is.
  #hasState = false
  #lostBecause: string | undefined
  #isUnusable = false

  private constructor(options: KernelRunnerOptions) {
    this.#options = options
  }

  static async start(options: KernelRunnerOptions, signal: AbortSignal): Promise<KernelRunner> {
    const runner = new KernelRunner(options)
    await runner.#open(signal)
    runner.#watchIdle()
    return runner
  }

  async execute(call: ExecuteCall): Promise<CodeResult> {
    clearTimeout(this.#idle)
    try {
      return await this.#execute(call)
    } finally {
      this.#watchIdle()
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle)
    await this.#end()
    clearTimeout(this.#idle)
  }

  launched(): void {
    if (this.#hasState) this.#lostBecause ??= "The kernel's container ended."
    this.#hasState = false
  }

  lost(because: string): void {
    this.#lostBecause = because
    this.#hasState = false
  }

  unusable(): void {
    this.#isUnusable = true
  }

  showed({ kind, size, content }: RichMessage): { readonly text: string; readonly note: string } {
    const current = this.#current
    if (!current) return NOTHING
    current.messages += 1
    if (current.messages > MAX_MESSAGES) return note(current, `more than ${MAX_MESSAGES} outputs`)
    if (!content)
      return note(current, `an output of ${Math.ceil(size / 1024)} KiB: richOutput.maxBytes is less`)
    const display = readDisplay(kind, content)
    if (!display) return note(current, `an output that is no ${kind}, or is nested too deep`)
    const events = current.shown.take(current.block, display)
    const text = display.action === "show" ? plainText(display.contents) : ""
    if (typeof events === "string") return { text, note: note(current, `an output: ${events}`).note }
    for (const event of events) current.onEvent(event)
    const troubles = display.action === "clear" ? [] : display.troubles
    const notes = troubles.map((trouble) => note(current, `a form of an output, ${trouble}`).note)
    return { text, note: notes.join("") }
  }

  async #execute(call: ExecuteCall): Promise<CodeResult> {
    const current: Current = {
      shown: new ShownOutputs(this.#options.richOutput),
      onEvent: call.onEvent,
      block: 0,
      messages: 0,
      notes: new Set(),
    }
    this.#current = current
    try {
      const result = await this.#run({ ...call, onEvent: (event) => this.#pass(current, event) })
      const { finished, artifacts } = await this.#finish(current, result)
      for (const artifact of artifacts) call.onEvent({ type: "artifact", artifact })
      call.onEvent({ type: "finished", result: finished })
      return finished
    } finally {
      if (this.#current === current) this.#current = undefined
    }
  }

  // A container without a kernel to be had is replaced before anything has run.
  async #run(call: ExecuteCall): Promise<CodeResult> {
    this.#isUnusable = false
    try {
      return await (await this.#open(call.signal)).execute(call)
    } catch (error) {
      if (!this.#isUnusable || call.signal.aborted) throw error
      let isFirst = true
      return (await this.#open(call.signal)).execute({
        ...call,
        onEvent: (event) => {
          // It was told that the call began.
          if (event.type === "started" && isFirst) isFirst = false
          else call.onEvent(event)
        },
      })
    }
  }

  #pass(current: Current, event: ExecutionEvent): void {
    if (event.type === "block-started") {
      current.block = event.block
      current.notes = new Set()
      this.#hasState = true
    }
    if (event.type === "finished") return
    if (event.type !== "block-finished") return current.onEvent(event)
    const outputs = current.shown.of(event.block)
    current.onEvent({ ...event, result: { ...event.result, outputs } })
  }

  async #finish(
    { shown }: Current,
    result: CodeResult,
  ): Promise<{ readonly finished: CodeResult; readonly artifacts: readonly Artifact[] }> {
    const { makesFiles, folder } = this.#options
    const taken = new Set(result.artifacts.map(({ path }) => path))
    const artifacts: Artifact[] = []
    const blocks = []
    for (const [index, block] of result.blocks.entries()) {
      const outputs = shown.of(index)
      const named =
        makesFiles && outputs.length > 0
          ? this.#artifacts.name(outputs, new Set([...taken, ...(await namesIn(folder))]))
          : { outputs, artifacts: [] }
      artifacts.push(...named.artifacts)
      blocks.push({ ...block, outputs: named.outputs })
    }
    const isKept = artifacts.length === 0 || (await keep(folder, artifacts))
    const because = this.#lostBecause
    this.#lostBecause = undefined
    const finished = {
      ...result,
      blocks,
      outputs: blocks.flatMap(({ outputs }): readonly RichOutput[] => outputs),
      artifacts: [...result.artifacts, ...artifacts],
      artifactsTruncated: result.artifactsTruncated || !isKept,
      stateLost: because !== undefined,
      ...(because === undefined ? {} : { stateLostBecause: because }),
    }
    return { finished, artifacts }
  }

  async #open(signal: AbortSignal): Promise<RunningExecutor> {
    await this.#closing
    signal.throwIfAborted()
    // One call at a time: nobody else waits for it.
    this.#running ??= this.#options.open(this, signal).catch((error: unknown) => {
      this.#running = undefined
      throw error
    })
    return this.#running
  }

  async #end(): Promise<void> {
    const running = this.#running
    this.#running = undefined
    if (running) this.#closing = running.then(async (inner) => inner.close()).catch(() => {})
    await this.#closing
  }

  #watchIdle(): void {
    const { idleTimeout } = this.#options
    clearTimeout(this.#idle)
    if (idleTimeout === undefined || !this.#running) return
    this.#idle = setTimeout(() => {
      if (this.#hasState) {
        this.#lostBecause ??= `The kernel had not been used for ${formatDuration(idleTimeout)} (idleTimeout), and was ended.`
      }
      this.#hasState = false
      void this.#end()
    }, idleTimeout)
    // Nobody has to wait for it: the kernel ends with the process too.
    this.#idle.unref()
  }
}

// Once for each block and reason: a loop would fill the output with it.
function note({ notes }: Current, what: string): { readonly text: string; readonly note: string } {
  if (notes.has(what)) return NOTHING
  notes.add(what)
  return { text: "", note: `[glovebox: left out ${what}]\n` }
}

// As a notebook shows it.
function plainText(contents: readonly { readonly type: string; readonly data: unknown }[]): string {
  const text = contents.find(({ type }) => type === "text")?.data
  if (typeof text !== "string" || (contents.length > 1 && SAYS_NOTHING.test(text))) return ""
  return `${text}\n`
}

async function namesIn(folder: Workspace | undefined): Promise<string[]> {
  return folder ? (await folder.read()).map(({ path }) => path) : []
}

async function keep(folder: Workspace | undefined, artifacts: readonly Artifact[]): Promise<boolean> {
  if (!folder) return true
  const files = artifacts.map(({ path, content, executable }) => ({ path, content, executable }))
  return folder.apply({ files, removed: [] })
}
