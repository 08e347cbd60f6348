import { spawn } from "node:child_process"
import { bin } from "./glovebox.test-kit.ts"

/** The command on a terminal of its own, as `script` of every Linux makes it. */
export class Terminal {
  readonly code: Promise<number | null>
  readonly #child
  #all = ""
  #seen = ""
  #onData: () => void = () => {}

  constructor(
    args: readonly string[],
    { cwd, env = {} }: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
  ) {
    const command = [process.execPath, bin, ...args].map((word) => `'${word}'`).join(" ")
    this.#child = spawn("script", ["-qec", command, "/dev/null"], {
      ...(cwd === undefined ? {} : { cwd }),
      env: { ...process.env, TERM: "xterm", NO_COLOR: "1", ...env },
    })
    this.#child.stdout.setEncoding("utf8").on("data", (text: string) => {
      this.#all += text
      this.#seen += text
      this.#onData()
    })
    this.code = new Promise((resolve) => this.#child.once("close", resolve))
  }

  write(text: string): void {
    this.#child.stdin.write(text)
  }

  async type(text: string, until: string): Promise<void> {
    this.write(text)
    await this.until(until)
  }

  /** Waits for the end, and gives all that came. */
  async rest(): Promise<string> {
    await this.code
    return this.#all
  }

  /** Waits for a text, and forgets what came up to it. */
  async until(text: string): Promise<void> {
    while (!this.#seen.includes(text)) {
      await new Promise<void>((resolve, reject) => {
        const late = setTimeout(() => {
          reject(
            new Error(`${JSON.stringify(text)} did not come after ${JSON.stringify(this.#seen.slice(-500))}`),
          )
        }, 60_000)
        this.#onData = () => {
          clearTimeout(late)
          resolve()
        }
      })
    }
    this.#seen = this.#seen.slice(this.#seen.indexOf(text) + text.length)
  }
}
