import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { OutputRedaction } from "../output-redaction.ts"

export const HISTORY_SIZE = 1000

/** The lines that were typed in this project's chats, the last one first, as readline has them; without secrets. */
export class ChatHistory {
  readonly #file: string
  readonly #redaction: OutputRedaction
  #saving: Promise<void> = Promise.resolve()

  constructor(folder: string, redaction: OutputRedaction) {
    this.#file = join(folder, "history")
    this.#redaction = redaction
  }

  async load(): Promise<string[]> {
    const text = await readFile(this.#file, "utf8").catch(() => "")
    return text.split("\n").filter((line) => line !== "")
  }

  /** Kept for the next time; that a disk is full must not end the chat. */
  save(lines: readonly string[]): void {
    const text = this.#redaction.text(`${lines.slice(0, HISTORY_SIZE).join("\n")}\n`)
    this.#saving = this.#saving.then(async () => writeFile(this.#file, text, { mode: 0o600 }).catch(() => {}))
  }

  async saved(): Promise<void> {
    await this.#saving
  }
}
