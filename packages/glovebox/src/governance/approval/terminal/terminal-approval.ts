import { z } from "zod"
import { readOptions } from "../../../core/read-options.ts"
import { errorMessage } from "../../../internal/error-message.ts"
import { visibleLine } from "../../../internal/safe-text.ts"
import { Slots } from "../../../internal/slots.ts"
import { userName } from "../../../internal/user-name.ts"
import type { ApprovalPayload } from "../approval-payload.ts"
import type { ApprovalProvider } from "../approval-provider.ts"
import type { GateAnswer } from "../gate-answer.ts"
import type { GateRequest } from "../gate-request.ts"
import { type ApprovalTerminal, openTerminal } from "./approval-terminal.ts"
import { editPayload } from "./edit-payload.ts"
import { editText } from "./edit-text.ts"
import { requestLines } from "./request-lines.ts"
import { rowsOf } from "./shown-line.ts"

export interface TerminalApprovalOptions {
  /** Another one than that of the process. @default "/dev/tty" */
  readonly path?: string | undefined
  /** A terminal that is open already, for example with a prompt of its own; closing it is not ours. */
  readonly terminal?: ApprovalTerminal | undefined
}

const optionsSchema = z.strictObject({
  path: z.string().min(1).default("/dev/tty"),
  terminal: z.custom<ApprovalTerminal>((value) => typeof value === "object" && value !== null).optional(),
})

// A screen or two at a time.
const PART_ROWS = 50

/** Asks a person at the terminal. Without one it denies. One question at a time. */
export function terminalApproval(options: TerminalApprovalOptions = {}): ApprovalProvider {
  const { path, terminal } = readOptions("terminalApproval", optionsSchema, options)
  const slots = new Slots(1)
  return {
    name: "terminal",
    ask: async (request, { signal }) => {
      const release = await slots.take(signal)
      try {
        if (terminal) return await new Conversation(terminal, request, signal).answer()
        return await onTerminal(path, (opened) => new Conversation(opened, request, signal).answer())
      } finally {
        release()
      }
    },
  }
}

async function onTerminal(
  path: string,
  talk: (terminal: ApprovalTerminal) => Promise<GateAnswer>,
): Promise<GateAnswer> {
  let terminal: ApprovalTerminal
  try {
    terminal = openTerminal(path)
  } catch (error) {
    return { decision: "deny", reason: `There is no terminal to ask on: ${errorMessage(error)}` }
  }
  try {
    return await talk(terminal)
  } finally {
    terminal.close()
  }
}

class Conversation {
  readonly #terminal: ApprovalTerminal
  readonly #request: GateRequest
  readonly #signal: AbortSignal
  #payload: ApprovalPayload

  constructor(terminal: ApprovalTerminal, request: GateRequest, signal: AbortSignal) {
    this.#terminal = terminal
    this.#request = request
    this.#signal = signal
    this.#payload = request.payload
  }

  async answer(): Promise<GateAnswer> {
    let isShown = false
    for (;;) {
      if (!isShown && !(await this.#show())) return this.#denied("")
      isShown = true
      const said = await this.#ask("Allow it? y(es), n(o) with a reason, e(dit): ")
      if (said === undefined) return denied("The input ended.")
      const [word = "", ...reason] = said.trim().split(/\s+/)
      switch (word.toLowerCase()) {
        case "y":
        case "yes":
          return this.#approved()
        case "n":
        case "no":
          return this.#denied(reason.join(" "))
        case "e":
        case "edit":
          await this.#edit()
          isShown = false
          break
        default:
          this.#say("Say y, n or e.")
      }
    }
  }

  /** In parts, so that nothing runs off the screen unseen; false when it is denied before the end. */
  async #show(): Promise<boolean> {
    const rows = rowsOf(requestLines(this.#request, this.#payload), this.#terminal.columns)
    for (let from = 0; from < rows.length;) {
      const to = Math.min(rows.length, from + PART_ROWS)
      this.#terminal.write(`${rows.slice(from, to).join("\n")}\n`)
      from = to
      if (from === rows.length) break
      const left = `${rows.length - from} of ${rows.length} rows are left`
      const said = await this.#ask(`${left}. Enter shows more, a(ll) shows all, n(o) denies: `)
      const word = said?.trim().toLowerCase()
      if (word === undefined || word === "n" || word === "no") return false
      if (word === "a" || word === "all") {
        this.#terminal.write(`${rows.slice(from).join("\n")}\n`)
        break
      }
      if (word !== "") this.#say("It can be allowed when all of it was shown.")
    }
    return true
  }

  async #edit(): Promise<void> {
    const { fd } = this.#terminal
    const signal = this.#signal
    try {
      const edited = await editPayload(this.#request, this.#payload, (text, extension) =>
        editText(text, { fd, extension, signal }),
      )
      this.#payload = edited as ApprovalPayload
    } catch (error) {
      signal.throwIfAborted()
      this.#say(`It was not edited: ${visibleLine(errorMessage(error))}`)
    }
  }

  #approved(): GateAnswer {
    const by = userName()
    if (this.#payload === this.#request.payload) return { decision: "approve", by }
    return { decision: "edit", payload: this.#payload, by }
  }

  async #denied(given: string): Promise<GateAnswer> {
    const reason = given === "" ? ((await this.#ask("Why not? (Enter for no reason) ")) ?? "").trim() : given
    return denied(reason === "" ? "The user did not approve it." : reason)
  }

  #say(text: string): void {
    this.#terminal.write(`${text}\n`)
  }

  #ask(question: string): Promise<string | undefined> {
    return this.#terminal.ask(question, this.#signal)
  }
}

function denied(reason: string): GateAnswer {
  return { decision: "deny", reason: reason.slice(0, 10_000), by: userName() }
}
