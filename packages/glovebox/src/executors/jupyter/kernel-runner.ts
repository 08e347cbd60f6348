import { readdir } from "node:fs/promises"
import { GloveboxError } from "../../core/index.ts"
import { formatDuration } from "../../policy/index.ts"
import type { Artifact, CodeResult } from "../code-result.ts"
import type { ExecutionEvent } from "../execution-event.ts"
import type { RichOutput } from "../rich-output.ts"
import type { ExecuteCall, RunningExecutor } from "../sandbox/running-executor.ts"
import type { Workspace } from "../workspace.ts"
import { CallOutputs } from "./call-outputs.ts"
import type { KernelObserver } from "./kernel-observer.ts"
import { type NamedOutputs, OutputArtifacts } from "./output-artifacts.ts"
import type { RichMessage } from "./rich-message.ts"
import type { ShownLimits } from "./shown-outputs.ts"

export interface KernelRunnerOptions {
  /** Makes what runs the calls; called again when the kernel was ended for want of use. */
  readonly open: (observer: KernelObserver, signal: AbortSignal) => Promise<RunningExecutor>
  /** After so many milliseconds without a call the kernel is ended; undefined for never. */
  readonly idleTimeout: number | undefined
  readonly richOutput: ShownLimits
  /** Whether outputs become files. */
  readonly makesFiles: boolean
  /** A folder of this machine that gets these files too, and its path. */
  readonly folder: { readonly path: string; readonly workspace: Workspace } | undefined
}

/** Runs calls in a kernel, and adds to their results what it showed and whether it lost its variables. */
export class KernelRunner implements RunningExecutor, KernelObserver {
  readonly #options: KernelRunnerOptions
  readonly #artifacts = new OutputArtifacts()
  #running: Promise<RunningExecutor> | undefined
  #closing = Promise.resolve()
  #current: CallOutputs | undefined
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
    this.lost("No new kernel could be started: its container was replaced, and its files are gone with it.")
  }

  counted(lastOutput: number): void {
    this.#artifacts.passOverNumber(lastOutput)
  }

  showed(message: RichMessage): string {
    return this.#current?.take(message) ?? ""
  }

  async #execute(call: ExecuteCall): Promise<CodeResult> {
    const outputs = new CallOutputs(this.#options.richOutput, call.onEvent)
    this.#current = outputs
    try {
      const result = await this.#run({ ...call, onEvent: (event) => this.#pass(outputs, call, event) })
      const { finished, artifacts } = await this.#finish(outputs, result)
      for (const artifact of artifacts) call.onEvent({ type: "artifact", artifact })
      call.onEvent({ type: "finished", result: finished })
      return finished
    } finally {
      if (this.#current === outputs) this.#current = undefined
    }
  }

  // A container without a kernel to be had is replaced, as long as nothing of the call has run.
  async #run(call: ExecuteCall): Promise<CodeResult> {
    let hasStarted = false
    let hasRun = false
    const onEvent = (event: ExecutionEvent): void => {
      if (event.type === "block-started") hasRun = true
      // It was told that the call began.
      if (event.type === "started" && hasStarted) return
      if (event.type === "started") hasStarted = true
      call.onEvent(event)
    }
    this.#isUnusable = false
    try {
      return await (await this.#open(call.signal)).execute({ ...call, onEvent })
    } catch (error) {
      // It may also be too full to live until a kernel has started.
      const isLost = hasStarted && GloveboxError.is(error, "SANDBOX_LOST")
      if (!(this.#isUnusable || isLost) || hasRun || call.signal.aborted) throw error
      if (!this.#isUnusable) this.lost("The kernel's container ended, and its files with it.")
      return (await this.#open(call.signal)).execute({ ...call, onEvent })
    }
  }

  #pass(outputs: CallOutputs, call: ExecuteCall, event: ExecutionEvent): void {
    if (event.type === "block-started") {
      outputs.beginBlock(event.block)
      this.#hasState = true
    }
    if (event.type === "finished") return
    if (event.type !== "block-finished") return call.onEvent(event)
    const shown = outputs.endBlock(event.block)
    call.onEvent({ ...event, result: { ...event.result, outputs: shown } })
  }

  async #finish(
    shown: CallOutputs,
    result: CodeResult,
  ): Promise<{ readonly finished: CodeResult; readonly artifacts: readonly Artifact[] }> {
    this.#artifacts.passOver(result.artifacts.map(({ path }) => path))
    const artifacts: Artifact[] = []
    const blocks = []
    let isWhole = true
    for (const [index, block] of result.blocks.entries()) {
      const named = await this.#name(shown.of(index))
      artifacts.push(...named.artifacts)
      blocks.push({ ...block, outputs: named.outputs })
      isWhole &&= named.isWhole
    }
    const isKept = artifacts.length === 0 || (await this.#keep(artifacts))
    const because = this.#lostBecause
    this.#lostBecause = undefined
    const finished = {
      ...result,
      blocks,
      outputs: blocks.flatMap(({ outputs }): readonly RichOutput[] => outputs),
      artifacts: [...result.artifacts, ...artifacts],
      artifactsTruncated: result.artifactsTruncated || !isKept || !isWhole,
      stateLost: because !== undefined,
      ...(because === undefined ? {} : { stateLostBecause: because }),
    }
    return { finished, artifacts }
  }

  async #name(outputs: readonly RichOutput[]): Promise<NamedOutputs> {
    const { makesFiles, folder } = this.#options
    if (!makesFiles || outputs.length === 0) return { outputs, artifacts: [], isWhole: true }
    // Links and folders too: whatever has the name.
    if (folder) this.#artifacts.passOver(await readdir(folder.path).catch(() => []))
    return this.#artifacts.name(outputs)
  }

  async #keep(artifacts: readonly Artifact[]): Promise<boolean> {
    const files = artifacts.map(({ path, content, executable }) => ({ path, content, executable }))
    return this.#options.folder?.workspace.apply({ files, removed: [] }) ?? true
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
