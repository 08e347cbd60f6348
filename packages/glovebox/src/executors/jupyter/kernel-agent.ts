import { constants } from "node:os"
import { GloveboxError } from "../../core/index.ts"
import type { Collected, CollectLimits, RunEnd, RunRequest, SandboxAgent } from "../sandbox/sandbox-agent.ts"
import type { WorkspaceFile } from "../workspace-file.ts"
import { INTERRUPT_GRACE_MS } from "./kernel-command.ts"
import type { KernelObserver } from "./kernel-observer.ts"
import { RichFrames } from "./rich-frames.ts"

const SIGNAL_NAMES = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]))

/** An agent that keeps a kernel: Python runs as a cell of it, everything else as a program beside it. */
export class KernelAgent implements SandboxAgent {
  readonly killGraceMs = INTERRUPT_GRACE_MS + 1_500
  readonly lost: AbortSignal
  readonly #agent: SandboxAgent
  readonly #observer: KernelObserver
  readonly #richBytes: number
  readonly #unusable = new AbortController()
  // The number of the kernel that the code knows.
  #number: number
  #isAlive = true
  #starting: Promise<void> | undefined
  #wasKilled = false
  #isRunning = false
  #unanswered: NodeJS.Timeout | undefined

  constructor(agent: SandboxAgent, options: { observer: KernelObserver; number: number; richBytes: number }) {
    this.#agent = agent
    this.#observer = options.observer
    this.#number = options.number
    this.#richBytes = options.richBytes
    this.lost = AbortSignal.any([agent.lost, this.#unusable.signal])
  }

  get programs(): Readonly<Record<string, string | null>> {
    return this.#agent.programs
  }

  get hasReadyInterpreter(): boolean {
    return false
  }

  get facts(): Readonly<Record<string, unknown>> {
    return this.#agent.facts
  }

  /** Every block waits for the kernel, as the agent does one thing at a time; an abort does not end the start. */
  async prepare(): Promise<void> {
    if (this.#isAlive) return
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined
    })
    await this.#starting
  }

  async put(files: Iterable<WorkspaceFile>): Promise<void> {
    await this.#agent.put(files)
  }

  remove(paths: readonly string[]): void {
    this.#agent.remove(paths)
  }

  async run(request: RunRequest): Promise<RunEnd> {
    this.#wasKilled = false
    const frames = new RichFrames(this.#richBytes, (message) => {
      const note = this.#observer.showed(message)
      if (note !== "") request.onOutput("stderr", Buffer.from(note, "utf8"))
    })
    this.#isRunning = true
    try {
      const end = await this.#agent.run({
        ...request,
        how: isCell(request) ? "cell" : "exec",
        onFrame: (type, payload) => frames.take(type, payload),
      })
      this.#hear(end, isCell(request))
      return end
    } catch (error) {
      if (this.#agent.lost.aborted)
        this.#observer.lost("The kernel's container ended, and its files with it.")
      throw error
    } finally {
      this.#isRunning = false
      clearTimeout(this.#unanswered)
    }
  }

  kill(): void {
    this.#wasKilled = true
    this.#agent.kill()
    if (!this.#isRunning) return
    // Just before the sandbox counts as lost, so that the result can tell.
    clearTimeout(this.#unanswered)
    this.#unanswered = setTimeout(() => {
      this.#observer.lost("The kernel's container did not answer, and was ended, and its files with it.")
    }, this.killGraceMs - 100)
  }

  async collect(limits: CollectLimits): Promise<Collected> {
    return this.#agent.collect(limits)
  }

  delivered(): void {
    this.#agent.delivered()
  }

  async undelivered(): Promise<Collected | undefined> {
    return this.#agent.undelivered()
  }

  async whenIdle(): Promise<void> {
    // A kernel that is on its way may take longer than a cancelled call is waited for; the next one waits for it.
    if (!this.#starting) await this.#agent.whenIdle()
  }

  warm(): void {}

  ping(): void {
    this.#agent.ping()
  }

  ref(isNeeded: boolean): void {
    this.#agent.ref(isNeeded)
  }

  pause(): void {
    this.#agent.pause()
  }

  resume(): void {
    this.#agent.resume()
  }

  close(): void {
    this.#agent.close()
  }

  #hear({ kernel, code, signal, limits }: RunEnd, wasCell: boolean): void {
    if (!kernel) return
    this.#observer.counted(kernel.lastOutput ?? 0)
    if (kernel.alive && kernel.number === this.#number) return
    const isBefore = kernel.alive
    this.#isAlive = kernel.alive
    this.#number = kernel.number
    if (isBefore) this.#observer.lost("The kernel had ended before.")
    else if (wasCell) this.#observer.lost(this.#why(code, signal, limits))
    else this.#observer.lost("The kernel ended while another program ran.")
  }

  #why(code: number | null, signal: number | null, limits: RunEnd["limits"]): string {
    if (signal !== null && limits.includes("memory")) return "The kernel ran out of memory."
    if (this.#wasKilled) {
      return "The kernel was killed, because its code did not end when it was interrupted."
    }
    if (signal !== null) return `The kernel was ended by ${SIGNAL_NAMES.get(signal) ?? `signal ${signal}`}.`
    return `The kernel's process ended with exit code ${code ?? 0}.`
  }

  async #start(): Promise<void> {
    let said = ""
    const end = await this.#agent.run({
      argv: ["python3"],
      how: "kernel",
      onOutput: (_stream, bytes) => {
        said = (said + bytes.toString("utf8")).slice(-8192)
      },
    })
    if (end.code === 0 && end.kernel?.alive) {
      this.#isAlive = true
      this.#number = end.kernel.number
      return
    }
    // Killed by the host, which says nothing of the container.
    if (end.signal !== null) {
      throw new GloveboxError(
        "SANDBOX_LOST",
        "The start of a new Jupyter kernel was ended. Run the code again.",
      )
    }
    const error = new GloveboxError(
      "SANDBOX_LOST",
      `No new Jupyter kernel could be started in the sandbox: ${said.trim()}. The next call begins with a new sandbox, without the files of this one.`,
    )
    this.#observer.unusable()
    this.#unusable.abort(error)
    throw error
  }
}

// Only the plain command: a table may give Python other programs or arguments.
function isCell({ argv }: RunRequest): boolean {
  return argv.length === 2 && argv[0] === "python3"
}
