import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"

const INDEX = new URL("index.ts", import.meta.url).href
const POLICY = new URL("../../policy/index.ts", import.meta.url).href
const TSX = import.meta.resolve("tsx")

export interface StartOptions {
  readonly env?: NodeJS.ProcessEnv
  /** Whether it has a terminal of its own, as `script` of every Linux makes it; stdin is then a file all the same. */
  readonly onTerminal?: boolean
}

/** A program of its own that uses the gate, and what it prints. */
export class ApprovalProcess {
  readonly ended: Promise<number | NodeJS.Signals | null>
  readonly #child: ChildProcessWithoutNullStreams
  seen = ""
  #onData: () => void = () => {}

  constructor(program: string, { env = {}, onTerminal = false }: StartOptions = {}) {
    const source = `
      import * as approval from ${JSON.stringify(INDEX)}
      import { SandboxPolicy } from ${JSON.stringify(POLICY)}
      const policy = new SandboxPolicy({ network: { allow: ["example.com:443"] } })
      const proposal = (code) => ({ kind: "code", agent: "coder", policy, payload: { codeBlocks: [{ code, language: "python" }] } })
      ${program}
    `
    const node = ["--import", TSX, "--conditions=@glovebox/source", "--input-type=module", "-e", source]
    const words = [process.execPath, ...node].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ")
    const [command, ...args] = onTerminal
      ? ["script", "-qec", `${words} </dev/null`, "/dev/null"]
      : [process.execPath, ...node]
    this.#child = spawn(command ?? "", args, {
      cwd: fileURLToPath(new URL(".", import.meta.url)),
      env: { ...process.env, TERM: "xterm", NO_COLOR: "1", ...env },
    })
    const take = (text: string): void => {
      this.seen += text
      this.#onData()
    }
    this.#child.stdout.setEncoding("utf8").on("data", take)
    this.#child.stderr.setEncoding("utf8").on("data", take)
    this.ended = new Promise((resolve) => {
      this.#child.once("close", (code, signal) => resolve(code ?? signal))
    })
  }

  write(text: string): void {
    this.#child.stdin.write(text)
  }

  kill(): void {
    this.#child.kill("SIGKILL")
  }

  /** Waits for a text, and forgets what came up to it. */
  async until(text: string): Promise<string> {
    while (!this.seen.includes(text)) {
      const more = new Promise<true>((resolve) => (this.#onData = () => resolve(true)))
      const isMore = await Promise.race([more, this.ended.then(() => false)])
      if (!isMore && !this.seen.includes(text)) throw new Error(`${text} did not come, but ${this.seen}`)
    }
    const end = this.seen.indexOf(text) + text.length
    const before = this.seen.slice(0, end)
    this.seen = this.seen.slice(end)
    return before
  }
}
