import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { beforeAll, describe, expect, it } from "vitest"
import { buildCommand } from "../../cli/glovebox.test-kit.ts"

const AGENT = fileURLToPath(new URL("../../../dist/chat/agents/user-proxy-agent.js", import.meta.url))

/** Asks twice, and prints what it heard. */
const PROGRAM = `
  import { UserProxyAgent } from ${JSON.stringify(AGENT)}
  const user = new UserProxyAgent({ name: "user" })
  try {
    for (let count = 0; count < 2; count += 1) {
      const { messages } = await user.run("?")
      console.log("heard " + messages.at(-1).content)
    }
  } catch (error) {
    console.log("failed " + error.code)
  }
`

const NODE = [process.execPath, "--input-type=module", "--eval", PROGRAM] as const

/** A program, what it prints, and how it ended. */
class Conversation {
  readonly ended: Promise<number | NodeJS.Signals | null>
  readonly #child
  seen = ""
  #onData: () => void = () => {}

  constructor([command = "", ...args]: readonly string[]) {
    this.#child = spawn(command, args, { env: { ...process.env, TERM: "xterm" } })
    this.#child.stdout.setEncoding("utf8").on("data", (text: string) => {
      this.seen += text
      this.#onData()
    })
    this.ended = new Promise((resolve) => {
      this.#child.once("close", (code, signal) => resolve(code ?? signal))
    })
  }

  write(text: string): void {
    this.#child.stdin.write(text)
  }

  end(): void {
    this.#child.stdin.end()
  }

  async until(text: string | RegExp): Promise<void> {
    while (this.seen.search(text) < 0) await new Promise<void>((resolve) => (this.#onData = resolve))
  }
}

describe("UserProxyAgent at a real terminal or pipe", () => {
  beforeAll(async () => buildCommand())

  it("reads a pipe line by line as they come, and does not keep the process from ending", async () => {
    const program = new Conversation(NODE)
    program.write("one\n")
    await program.until("heard one")
    program.write("tw")
    program.write("o\nthree")
    // Its stdin is still open.
    expect(await program.ended).toBe(0)
    expect(program.seen).toBe("heard one\nheard two\n")
  })

  it("sees the end of a pipe, also while it waits for the second line", async () => {
    const program = new Conversation(NODE)
    program.write("one\n")
    await program.until("heard one")
    program.end()
    expect(await program.ended).toBe(0)
    expect(program.seen).toBe("heard one\nfailed INPUT_ENDED\n")
  })

  it("gives the terminal back after an answer, and when it is interrupted", async () => {
    const quoted = NODE.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(" ")
    const command = `${quoted}; echo "ended $?"; stty -a`
    const terminal = new Conversation(["script", "-qec", command, "/dev/null"])
    await terminal.until("Your answer: ")
    terminal.write("one\r")
    await terminal.until(/heard one[^]*Your answer: /)
    // Ctrl+C.
    terminal.write("\u0003")
    await terminal.ended
    expect(terminal.seen).toContain("ended 130")
    expect(terminal.seen).toMatch(/ icanon .* echo /s)
  })
})
