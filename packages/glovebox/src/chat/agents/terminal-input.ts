import { createInterface } from "node:readline"
import type { Readable, Writable } from "node:stream"
import { abortable } from "../../internal/abortable.ts"
import { inputEnded, readPipedLine } from "./piped-line.ts"
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
      return input.isTTY === true ? askTerminal(input, output, request) : readPipedLine(input, request.signal)
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
  let isAnswered = false
  try {
    const answer = new Promise<string>((resolve, reject) => {
      terminal.once("close", () => reject(inputEnded()))
      // In raw mode the key reaches nobody else.
      terminal.on("SIGINT", () => process.kill(process.pid, "SIGINT"))
      terminal.question(prompt, (line) => {
        isAnswered = true
        resolve(line)
      })
    })
    return await abortable(answer, signal)
  } finally {
    // Gives the terminal back as it was.
    terminal.close()
    // What comes next is not to stand behind the question.
    if (!isAnswered) output.write("\n")
  }
}
