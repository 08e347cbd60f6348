import { createInterface } from "node:readline"
import type { CommandOutput } from "../command-output.ts"
import { PythonCells } from "./python-cells.ts"
import type { ReplSession } from "./repl-session.ts"

export interface ReplLoopOptions {
  readonly session: ReplSession
  readonly output: CommandOutput
  readonly input: NodeJS.ReadStream
  /** Whether a person types, and sees prompts. */
  readonly isTerminal: boolean
  /** Ends it from outside. */
  readonly signal: AbortSignal
}

const HELP = `Python, cell by cell; variables stay. A line that ends with a colon begins a block, and a blank line ends it.
  Ctrl-C    interrupt the cell that runs, or forget what was typed
  Ctrl-D    leave; so do exit() and :quit
  :restart  a new interpreter, without the variables and files of this one
  :help     this text`

const LEAVE = /^(?::q|:quit|(?:exit|quit)(?:\s*\(\s*\))?)$/

/** Reads cells and runs them until there are no more. */
export async function replLoop({
  session,
  output,
  input,
  isTerminal,
  signal,
}: ReplLoopOptions): Promise<void> {
  const cells = new PythonCells({ looksAhead: !isTerminal })
  let running: AbortController | undefined
  const reader = createInterface({
    input,
    ...(isTerminal ? { output: process.stdout, historySize: 1000, removeHistoryDuplicates: true } : {}),
    terminal: isTerminal,
  })
  const prompt = (): void => {
    if (!isTerminal) return
    reader.setPrompt(cells.isOpen ? "... " : ">>> ")
    reader.prompt()
  }
  const run = async (source: string): Promise<void> => {
    running = new AbortController()
    try {
      await session.run(source, AbortSignal.any([running.signal, signal]))
    } finally {
      running = undefined
    }
    signal.throwIfAborted()
  }
  reader.on("SIGINT", () => {
    if (running) return running.abort(new Error("The cell was interrupted."))
    cells.reset()
    // Takes back what stands in the line.
    reader.write(null, { ctrl: true, name: "e" })
    reader.write(null, { ctrl: true, name: "u" })
    output.stdout.put("\n")
    prompt()
  })
  const close = (): void => reader.close()
  signal.addEventListener("abort", close, { once: true })
  try {
    const lines = reader[Symbol.asyncIterator]()
    prompt()
    for await (const line of lines) {
      const word = cells.isOpen ? "" : line.trim()
      if (LEAVE.test(word)) return
      if (word === ":help") output.print(HELP)
      else if (word === ":restart") await session.restart()
      else if (/^:\w/.test(word)) output.note(`there is no ${word}; :help lists what there is`)
      else for (const source of cells.push(line)) await run(source)
      prompt()
    }
    signal.throwIfAborted()
    for (const source of cells.end()) await run(source)
    if (isTerminal) output.stdout.put("\n")
  } finally {
    signal.removeEventListener("abort", close)
    reader.close()
  }
}
