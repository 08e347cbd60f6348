import { once } from "node:events"
import { createInterface } from "node:readline"
import type { Readable, Writable } from "node:stream"
import { GloveboxError } from "../../core/index.ts"
import { abortable } from "../../internal/abortable.ts"
import type { UserInput, UserInputRequest } from "./user-input.ts"

export interface TerminalInputOptions {
  /** @default process.stdin */
  readonly input?: Terminal | undefined
  /** Where the prompt goes when the input is a terminal. @default process.stdout, or process.stderr if that is piped */
  readonly output?: Writable | undefined
}

type Terminal = Readable & { readonly isTTY?: boolean }

// By stream: two agents must not read one line each from the middle of the other's.
const turns = new WeakMap<Readable, Promise<unknown>>()

/** Asks at the terminal, and reads one line; further lines of a pipe are left for the next question. */
export function terminalInput(options: TerminalInputOptions = {}): UserInput {
  return async (request) => {
    const input = options.input ?? process.stdin
    const output = options.output ?? (process.stdout.isTTY ? process.stdout : process.stderr)
    const before = turns.get(input) ?? Promise.resolve()
    const answer = before.then(() => {
      request.signal.throwIfAborted()
      return input.isTTY === true ? askTerminal(input, output, request) : readLine(input, request.signal)
    })
    turns.set(
      input,
      answer.catch(() => {}),
    )
    return answer
  }
}

async function askTerminal(
  input: Readable,
  output: Writable,
  { prompt, signal }: Pick<UserInputRequest, "prompt" | "signal">,
): Promise<string> {
  const terminal = createInterface({ input, output, terminal: true })
  try {
    const answer = new Promise<string>((resolve, reject) => {
      terminal.once("close", () => reject(ended()))
      // In raw mode the key reaches nobody else.
      terminal.on("SIGINT", () => process.kill(process.pid, "SIGINT"))
      terminal.question(prompt, resolve)
    })
    return await abortable(answer, signal)
  } finally {
    // Gives the terminal back as it was.
    terminal.close()
  }
}

async function readLine(input: Readable, signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = []
  try {
    for (;;) {
      const chunk: unknown = input.read()
      if (chunk === null) {
        // A last line need not end as the others.
        if (isOver(input) && chunks.length > 0) return textOf(chunks)
        if (isOver(input)) throw ended()
        await change(input, signal)
        continue
      }
      const bytes = Buffer.from(chunk as Buffer | string)
      const end = bytes.indexOf("\n")
      chunks.push(end < 0 ? bytes : bytes.subarray(0, end))
      if (end < 0) continue
      if (end + 1 < bytes.length) input.unshift(bytes.subarray(end + 1))
      return textOf(chunks)
    }
  } catch (error) {
    // What was read of a line that nobody waits for is the next one's.
    if (chunks.length > 0 && !isOver(input)) input.unshift(Buffer.concat(chunks))
    throw error
  } finally {
    // Or the process would wait for input that nobody asks for.
    input.pause()
  }
}

/** Waits until there may be more to read, or nothing will come. */
async function change(input: Readable, signal: AbortSignal): Promise<void> {
  const over = new AbortController()
  const events = ["readable", "end", "close"].map(async (event) =>
    once(input, event, { signal: over.signal }),
  )
  try {
    const changed = Promise.race(events)
    // A pipe that was paused would stay so; with a listener for "readable" nothing flows away.
    input.resume()
    await abortable(changed, signal)
  } finally {
    over.abort()
  }
}

function isOver(input: Readable): boolean {
  return input.readableEnded || input.destroyed
}

function textOf(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks).toString("utf8").replace(/\r$/, "")
}

function ended(): GloveboxError {
  return new GloveboxError(
    "INPUT_ENDED",
    "There is nobody to answer: the input has ended. Run it at a terminal, or pass input.",
  )
}
