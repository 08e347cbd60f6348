import type { Logger } from "../../core/index.ts"
import { errorMessage } from "../../internal/error-message.ts"
import type { CommandOutput } from "../command-output.ts"

type Fields = Readonly<Record<string, unknown>>

/** One of the same text in this time: what goes wrong often must not fill a disk. */
const REPEAT_MS = 1000

/** What a command that serves says: lines for people on stderr, or lines of JSON on stdout. */
export class ServerReport {
  readonly #output: CommandOutput
  readonly #isJson: boolean
  readonly #said = new Map<string, { at: number; skipped: number }>()

  constructor(output: CommandOutput, isJson: boolean) {
    this.#output = output
    this.#isJson = isJson
  }

  say(type: string, text: string, fields: Fields = {}): void {
    if (this.#isJson) this.#output.printJson({ type, time: new Date().toISOString(), ...fields })
    else this.#output.note(text)
  }

  /** For the runtime: what an operator should know. */
  readonly logger: Logger = {
    debug: () => {},
    info: (message, fields) => this.#log("info", message, fields),
    warn: (message, fields) => this.#log("warn", message, fields),
    error: (message, fields) => this.#log("error", message, fields),
  }

  #log(level: keyof Logger, message: string, given: Fields = {}): void {
    const last = this.#said.get(message)
    const now = performance.now()
    if (last && now - last.at < REPEAT_MS) {
      last.skipped += 1
      return
    }
    this.#said.set(message, { at: now, skipped: 0 })
    const skipped = last?.skipped ?? 0
    const fields = Object.fromEntries(
      Object.entries({ ...given, ...(skipped > 0 && { notShown: skipped }) }).map(([name, value]) => [
        name,
        plain(value),
      ]),
    )
    const details = Object.entries(fields).map(([name, value]) => `${name}: ${value}`)
    const text = details.length === 0 ? message : `${message} (${details.join(", ")})`
    this.say("log", text, { level, message, ...fields })
  }
}

function plain(value: unknown): string | number | boolean {
  if (typeof value === "number" || typeof value === "boolean" || typeof value === "string") return value
  return value instanceof Error ? errorMessage(value) : (JSON.stringify(value) ?? "nothing")
}
