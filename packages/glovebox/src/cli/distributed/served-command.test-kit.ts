import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { bin } from "../glovebox.test-kit.ts"

export interface ServedOptions {
  readonly env?: NodeJS.ProcessEnv
  readonly cwd?: string
}

type Line = Readonly<Record<string, unknown>>

/** `glovebox host` or `glovebox worker` in a process of its own, read by its lines of JSON. */
export class ServedCommand implements AsyncDisposable {
  stderr = ""
  readonly #child: ChildProcessWithoutNullStreams
  readonly #ended: Promise<number | string>
  readonly #lines: Line[] = []
  readonly #news = new EventTarget()

  constructor(args: readonly string[], { env = {}, cwd }: ServedOptions = {}) {
    this.#child = spawn(process.execPath, [bin, ...args, "--json"], { env: { ...process.env, ...env }, cwd })
    this.#child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text
      this.#news.dispatchEvent(new Event("news"))
    })
    createInterface(this.#child.stdout).on("line", (line) => {
      this.#lines.push(JSON.parse(line) as Line)
      this.#news.dispatchEvent(new Event("news"))
    })
    this.#ended = once(this.#child, "close").then(([code, signal]: unknown[]) => {
      this.#news.dispatchEvent(new Event("news"))
      return (code ?? signal) as number | string
    })
  }

  /** The first line of a type, once it is there. */
  async said(type: string): Promise<Line> {
    return this.#until(() => this.#lines.find((line) => line["type"] === type))
  }

  /** When its agents have printed this. */
  async printed(text: string): Promise<void> {
    await this.#until(() => this.stderr.includes(text) || undefined)
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** Its exit code, or the signal that ended it. */
  async ended(): Promise<number | string> {
    return this.#ended
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL")
    await this.#ended
  }

  async #until<T>(find: () => T | undefined): Promise<T> {
    for (;;) {
      const found = find()
      if (found !== undefined) return found
      const { exitCode, signalCode } = this.#child
      if (exitCode !== null || signalCode !== null) {
        throw new Error(`It ended with ${exitCode ?? signalCode}: ${this.stderr}`)
      }
      await new Promise((resolve) => this.#news.addEventListener("news", resolve, { once: true }))
    }
  }
}

/** A host, once it listens. */
export async function startHost(
  ...args: string[]
): Promise<{ host: ServedCommand; address: string; health: string }> {
  const host = new ServedCommand(["host", "--listen", "127.0.0.1:0", "--health", "0", ...args])
  const { address, health } = await host.said("listening")
  return { host, address: String(address), health: String(health) }
}
