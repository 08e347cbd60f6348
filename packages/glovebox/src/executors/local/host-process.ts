import type { ChildProcess } from "node:child_process"
import { constants } from "node:os"
import { setTimeout as pause } from "node:timers/promises"
import type { Readable } from "node:stream"
import { GloveboxError } from "../../core/index.ts"
import { shortageError } from "../sandbox/shortage-error.ts"
import { startProcess } from "../sandbox/start-process.ts"
import type { RunEnd } from "../sandbox/sandbox-agent.ts"
import type { Guard } from "../sandbox/guard.ts"
import { killGroup } from "./kill-group.ts"
import { type OutputPipes, makeOutputPipes } from "./output-pipes.ts"

// Someone who left the group may hold a pipe open for ever: so long it may be silent, and so long speak.
const SILENCE_MS = 100
const LONGEST_AFTERWORD_MS = 1_000

export interface HostProcessOptions {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** A folder for pipes, which only this user can read. */
  readonly scratch: string
  readonly guard: Guard
  readonly onOutput: (stream: "stdout" | "stderr", bytes: Buffer) => void
}

/** A program on this machine, in a process group of its own that ends as a whole. */
export class HostProcess {
  readonly #options: HostProcessOptions
  #child: ChildProcess | undefined
  #streams: readonly Readable[] = []
  #isKilled = false
  #isPaused = false

  constructor(options: HostProcessOptions) {
    this.#options = options
  }

  /** Resolves when it has ended, its group with it, and what it wrote was read. */
  async run(): Promise<RunEnd> {
    const { argv, scratch, guard, onOutput } = this.#options
    const pipes = await makeOutputPipes(scratch)
    if (this.#isKilled) {
      pipes?.closeWriters()
      pipes?.stdout.destroy()
      pipes?.stderr.destroy()
      return { code: null, signal: constants.signals.SIGKILL, limits: [] }
    }
    const [program = "", ...args] = argv
    const child = this.#start(program, args, pipes)
    this.#child = child
    const { pid } = child
    if (pid !== undefined) guard.watch(pid)
    const stdout = pipes?.stdout ?? (child.stdout as Readable)
    const stderr = pipes?.stderr ?? (child.stderr as Readable)
    this.#streams = [stdout, stderr]
    let lastWord = 0
    const read = (stream: "stdout" | "stderr", readable: Readable): Promise<void> => {
      readable.on("data", (bytes: Buffer) => {
        lastWord = performance.now()
        onOutput(stream, bytes)
      })
      if (this.#isPaused) readable.pause()
      return new Promise((resolve) => {
        readable.on("error", () => {}).once("close", resolve)
      })
    }
    const readAll = Promise.all([read("stdout", stdout), read("stderr", stderr)])
    try {
      const end = await exitOf(child, program)
      if (pid !== undefined) killGroup(pid)
      await this.#hearOut(readAll, () => lastWord)
      return end
    } finally {
      if (pid !== undefined) guard.forget(pid)
      stdout.destroy()
      stderr.destroy()
    }
  }

  #start(program: string, args: readonly string[], pipes: OutputPipes | undefined): ChildProcess {
    const { cwd, env } = this.#options
    try {
      return startProcess(program, args, {
        cwd,
        env,
        detached: true,
        windowsHide: true,
        stdio: ["ignore", ...(pipes?.writers ?? (["pipe", "pipe"] as const))],
      })
    } catch (error) {
      pipes?.stdout.destroy()
      pipes?.stderr.destroy()
      throw error
    } finally {
      pipes?.closeWriters()
    }
  }

  kill(): void {
    this.#isKilled = true
    const pid = this.#child?.pid
    if (pid !== undefined && this.#child?.exitCode === null && this.#child.signalCode === null) killGroup(pid)
  }

  pause(): void {
    this.#isPaused = true
    for (const stream of this.#streams) stream.pause()
  }

  resume(): void {
    this.#isPaused = false
    for (const stream of this.#streams) stream.resume()
  }

  // What was written before the end is in the pipes, and comes at once when somebody reads.
  async #hearOut(ended: Promise<unknown>, lastWord: () => number): Promise<void> {
    const over = ended.then(() => true)
    let patience = LONGEST_AFTERWORD_MS
    while (patience > 0) {
      if (await Promise.race([over, pause(SILENCE_MS, false)])) return
      // A reader that is slow is not a pipe that is silent.
      if (this.#isPaused) continue
      if (performance.now() - lastWord() >= SILENCE_MS) return
      patience -= SILENCE_MS
    }
  }
}

async function exitOf(child: ChildProcess, program: string): Promise<RunEnd> {
  return new Promise((resolve, reject) => {
    child.once("error", (cause) => {
      reject(
        shortageError(program, cause) ??
          new GloveboxError("LANGUAGE_UNAVAILABLE", `${program} could not be started: ${cause.message}.`, {
            cause,
          }),
      )
    })
    child.once("exit", (code, signal) => {
      resolve({ code, signal: signal === null ? null : constants.signals[signal], limits: [] })
    })
  })
}
