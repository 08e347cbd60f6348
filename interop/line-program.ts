import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { EventLog, type LoggedEvent } from "./event-log.ts"

const STOP_MS = 5_000

/** A child process that takes commands and tells events as lines of JSON, as `python/lines.py` does. */
export class LineProgram implements AsyncDisposable {
  readonly events = new EventLog()
  readonly #child: ChildProcess
  readonly #calls = new Map<number, (answer: LoggedEvent) => void>()
  readonly #exit: Promise<unknown>
  #lastCall = 0
  #errors = ""
  #ended: string | undefined

  constructor(command: string, args: readonly string[]) {
    const child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"] })
    this.#child = child
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#errors = (this.#errors + text).slice(-20_000)
    })
    // Writing to a program that was killed is no failure of the test: the call itself tells.
    child.stdin.on("error", () => {})
    createInterface({ input: child.stdout }).on("line", (line) => this.#read(line))
    this.#exit = once(child, "close").then(
      ([code, signal]) => this.#end(`${args.join(" ")} ended (${String(signal ?? code)})`),
      (error: unknown) => this.#end(`${command} cannot be started: ${String(error)}`),
    )
  }

  /** Resolves with what the command gives; rejects with the text of what it raised. */
  call(command: string, fields: LoggedEvent = {}): Promise<unknown> {
    if (this.#ended !== undefined) return Promise.reject(new Error(this.#ended))
    const call = ++this.#lastCall
    const answer = new Promise<LoggedEvent>((resolve) => this.#calls.set(call, resolve))
    this.#child.stdin?.write(`${JSON.stringify({ call, do: command, ...fields })}\n`)
    return answer.then(({ value, error }) => {
      if (error !== undefined) throw new Error((error as { readonly text: string }).text)
      return value
    })
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL")
    await this.#exit
  }

  /** Ends its input, which asks it to stop; kills it when it does not. */
  async stop(): Promise<void> {
    this.#child.stdin?.end()
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), STOP_MS)
    await this.#exit
    clearTimeout(timer)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
  }

  #read(line: string): void {
    const told = JSON.parse(line) as LoggedEvent
    if (typeof told["call"] !== "number") return this.events.add(told)
    this.#calls.get(told["call"])?.(told)
    this.#calls.delete(told["call"])
  }

  #end(reason: string): void {
    this.#ended = reason
    this.events.end(new Error(`${reason}\n${this.#errors}`))
    for (const answer of this.#calls.values()) answer({ error: { text: reason } })
    this.#calls.clear()
  }
}
