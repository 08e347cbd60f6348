import { type ChildProcessByStdio, spawn } from "node:child_process"
import { once } from "node:events"
import { type Interface, createInterface } from "node:readline"
import type { Readable, Writable } from "node:stream"
import { fileURLToPath } from "node:url"
import { BenchError } from "../bench-error.ts"

const STOP_MS = 5_000

interface Hello {
  readonly address: string
  readonly version?: string
}

/** A program that answers each line of JSON with one; before the first it says where it, or its host, is. */
export class LineProcess implements AsyncDisposable {
  readonly address: string
  readonly version: string | undefined
  readonly #child: ChildProcessByStdio<Writable, Readable, null>
  readonly #lines: AsyncIterator<string>

  private constructor(
    child: ChildProcessByStdio<Writable, Readable, null>,
    lines: AsyncIterator<string>,
    { address, version }: Hello,
  ) {
    this.#child = child
    this.#lines = lines
    this.address = address
    this.version = version
  }

  /** A program of this folder, in a Node as this one. */
  static async node(program: string, ...args: readonly string[]): Promise<LineProcess> {
    const path = fileURLToPath(new URL(`programs/${program}.ts`, import.meta.url))
    return await LineProcess.start(process.execPath, [...process.execArgv, path, ...args])
  }

  static async start(command: string, args: readonly string[]): Promise<LineProcess> {
    const child = spawn(command, args, {
      stdio: ["pipe", "pipe", "inherit"],
      // Off as ours is, so that the two do the same.
      env: { ...process.env, AUTOGEN_DISABLE_RUNTIME_TRACING: "true" },
    })
    const reader: Interface = createInterface({ input: child.stdout })
    const lines = reader[Symbol.asyncIterator]()
    return new LineProcess(child, lines, (await nextOf(lines)) as Hello)
  }

  /** What the program answers to a command. */
  async ask<Answer extends object>(command: string, fields: object = {}): Promise<Answer> {
    this.#child.stdin.write(`${JSON.stringify({ do: command, ...fields })}\n`)
    return (await nextOf(this.#lines)) as Answer
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const exit = once(this.#child, "exit")
    this.#child.stdin.end()
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), STOP_MS)
    await exit
    clearTimeout(timer)
  }
}

async function nextOf(lines: AsyncIterator<string>): Promise<object> {
  const { done, value } = await lines.next()
  if (done === true) throw new BenchError("A program of the bench ended early; what it said is above.")
  return JSON.parse(value) as object
}
