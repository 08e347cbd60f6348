import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"

export const HISTORY_SIZE = 1000

/** The lines that were typed in this project's chats, the last one first, as readline has them. */
export class ChatHistory {
  readonly #file: string
  #saving: Promise<void> = Promise.resolve()

  constructor(folder: string) {
    this.#file = join(folder, "history")
  }

  async load(): Promise<string[]> {
    const text = await readFile(this.#file, "utf8").catch(() => "")
    return text.split("\n").filter((line) => line !== "")
  }

  /** Kept for the next time; that a disk is full must not end the chat. */
  save(lines: readonly string[]): void {
    const text = `${lines.slice(0, HISTORY_SIZE).join("\n")}\n`
    this.#saving = this.#saving.then(async () => writeFile(this.#file, text, { mode: 0o600 }).catch(() => {}))
  }

  async saved(): Promise<void> {
    await this.#saving
  }
}
