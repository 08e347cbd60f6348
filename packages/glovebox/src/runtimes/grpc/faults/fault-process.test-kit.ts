import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import type { Fields } from "./program-lines.test-kit.ts"

/** A process that a test may kill, stop and continue at any moment. */
export class FaultProcess implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #exit: Promise<unknown>
  readonly #calls = new Map<number, (answer: Fields) => void>()
  #errors = ""
  #lastCall = 0
  #over: string | undefined

  /** Under programs before Node, such as one that changes the network. */
  constructor(file: string, under: readonly string[] = []) {
    const [command, ...rest] = [...under, process.execPath, "--expose-gc", file]
    const child = spawn(command, rest, { stdio: ["pipe", "pipe", "pipe"] })
    this.#child = child
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#errors = (this.#errors + text).slice(-10_000)
    })
    // Writing to a process that was killed is no failure: the call itself tells.
    child.stdin.on("error", () => {})
    this.#exit = once(child, "close")
    createInterface({ input: child.stdout }).on("line", (line) => {
      const told = JSON.parse(line) as Fields
      this.#calls.get(Number(told["call"]))?.(told)
    })
    void this.#exit.then(() => this.#end(`${file} ended. ${this.#errors}`))
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  async call<T>(command: string, fields: Fields = {}): Promise<T> {
    if (this.#over !== undefined) throw new Error(this.#over)
    const call = ++this.#lastCall
    const answer = new Promise<Fields>((resolve) => this.#calls.set(call, resolve))
    this.#child.stdin?.write(`${JSON.stringify({ call, command, ...fields })}\n`)
    const { value, error } = await answer
    this.#calls.delete(call)
    if (error !== undefined) throw new Error(JSON.stringify(error))
    return value as T
  }

  signal(name: "SIGSTOP" | "SIGCONT"): void {
    this.#child.kill(name)
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL")
    await this.#exit
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
  }

  #end(reason: string): void {
    this.#over = reason
    for (const answer of this.#calls.values()) answer({ error: reason })
  }
}
