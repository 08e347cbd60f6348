import { writeFile } from "node:fs/promises"
import { createInterface, type Interface } from "node:readline"
import { errorMessage } from "../../internal/error-message.ts"
import type { At } from "../run/job-setup.ts"
import { type ChatHistory, HISTORY_SIZE } from "./chat-history.ts"
import type { ChatSession } from "./chat-session.ts"

const HELP = `Say what is to be done. A line that ends with \\ goes on in the next one.
  Ctrl-C         cancel what is being done; twice, or Ctrl-D, leave
  /files         the files of this chat
  /save <file>   write what was said to a file
  /reset         forget what was said; the files stay
  /exit          leave
  /help          this text`

const LEAVE_HINT = "Ctrl-C again, or Ctrl-D, to leave"

/** Reads what a person types, or what comes from a pipe, turn by turn. */
export class ChatLoop implements AsyncDisposable {
  readonly #reader: Interface
  readonly #lines: AsyncIterator<string>
  readonly #history: ChatHistory
  readonly #isTerminal: boolean
  readonly #at: At
  readonly #close: () => void
  #running: AbortController | undefined
  #isLeaving = false
  #wasInterrupted = false

  private constructor(reader: Interface, history: ChatHistory, isTerminal: boolean, at: At) {
    this.#reader = reader
    this.#lines = reader[Symbol.asyncIterator]()
    this.#history = history
    this.#isTerminal = isTerminal
    this.#at = at
    this.#close = () => reader.close()
    at.signal.addEventListener("abort", this.#close, { once: true })
    reader.on("history", (lines) => history.save(lines))
    reader.on("SIGINT", () => this.#interrupt())
  }

  static async open(history: ChatHistory, isTerminal: boolean, at: At): Promise<ChatLoop> {
    const reader = createInterface({
      input: process.stdin,
      terminal: isTerminal,
      ...(isTerminal
        ? {
            output: process.stdout,
            history: await history.load(),
            historySize: HISTORY_SIZE,
            removeHistoryDuplicates: true,
          }
        : {}),
    })
    return new ChatLoop(reader, history, isTerminal, at)
  }

  /** Asks in the same place; undefined when the input ends. */
  async ask(question: string, signal: AbortSignal): Promise<string | undefined> {
    return new Promise((resolve, reject) => {
      const end = (): void => resolve(undefined)
      const stop = (): void => reject(signal.reason as Error)
      const settled = (): void => {
        signal.removeEventListener("abort", stop)
        this.#reader.off("close", end)
      }
      signal.addEventListener("abort", stop, { once: true })
      this.#reader.once("close", end)
      this.#reader.question(question, { signal }, (answer) => {
        settled()
        resolve(answer)
      })
    })
  }

  async run(session: ChatSession): Promise<void> {
    for (;;) {
      const text = await this.#next()
      if (text === undefined) break
      const line = text.trim()
      if (line === "") continue
      if (line === "/exit" || line === "/quit") return
      if (line.startsWith("/")) await this.#command(line, session)
      else await this.#turn(line, session)
    }
    this.#at.signal.throwIfAborted()
    if (this.#isTerminal) this.#at.output.stdout.put("\n")
  }

  /** What is said next, of as many lines as it has; undefined at the end. */
  async #next(): Promise<string | undefined> {
    let text = ""
    for (;;) {
      if (this.#isTerminal && !this.#wasInterrupted) {
        this.#reader.setPrompt(text === "" ? "> " : "… ")
        this.#reader.prompt()
      }
      const { value, done } = await this.#lines.next()
      if (done === true || this.#wasInterrupted)
        return text.trim() === "" || this.#wasInterrupted ? undefined : text
      this.#isLeaving = false
      if (!value.endsWith("\\")) return text + value
      text += `${value.slice(0, -1)}\n`
    }
  }

  async #turn(task: string, session: ChatSession): Promise<void> {
    this.#running = new AbortController()
    try {
      await session.say(task, this.#running.signal, this.#at)
    } finally {
      this.#running = undefined
    }
  }

  async #command(line: string, session: ChatSession): Promise<void> {
    const { output } = this.#at
    const [, name = "", argument = ""] = /^\/(\S*)\s*(.*)$/.exec(line) ?? []
    switch (name) {
      case "help":
        output.print(HELP)
        break
      case "files": {
        const files = await session.files()
        output.print(files.length === 0 ? "There are none yet." : files.join("\n"))
        break
      }
      case "reset":
        await session.reset()
        output.note("what was said is forgotten")
        break
      case "save":
        await save(argument, session, this.#at)
        break
      default:
        output.note(`there is no /${name}; /help lists what there is`)
    }
  }

  #interrupt(): void {
    if (this.#running && !this.#running.signal.aborted) {
      this.#running.abort(new Error("The turn was cancelled."))
      return
    }
    if (this.#running || this.#isLeaving) {
      this.#wasInterrupted = true
      // As from outside, so that whatever still runs is ended too.
      process.kill(process.pid, "SIGINT")
      return
    }
    this.#isLeaving = true
    // Takes back what stands in the line.
    this.#reader.write(null, { ctrl: true, name: "e" })
    this.#reader.write(null, { ctrl: true, name: "u" })
    this.#at.output.stdout.put(`\n${LEAVE_HINT}\n`)
    this.#reader.prompt()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#at.signal.removeEventListener("abort", this.#close)
    this.#reader.close()
    await this.#history.saved()
  }
}

async function save(file: string, session: ChatSession, { output }: At): Promise<void> {
  await session.save()
  if (file === "") {
    output.note("saved, as after each turn; /save <file> writes what was said to a file")
    return
  }
  try {
    await writeFile(file, session.toMarkdown(), { flag: "wx" })
    output.note(`wrote ${file}`)
  } catch (error) {
    output.note(`${file} cannot be written: ${errorMessage(error)}`)
  }
}
