import type { OutputEvent } from "../../executors/index.ts"

const EVERY_MS = 100
const LONGEST = 4_096

/** Output on its way to a caller who wants to see it at once: gathered, so that a flood of lines is not one of messages. */
export class LiveOutput {
  readonly #send: (text: string) => Promise<void>
  #text = ""
  #timer: NodeJS.Timeout | undefined
  #sending = Promise.resolve()

  constructor(send: (text: string) => Promise<void>) {
    this.#send = send
  }

  readonly push = ({ text }: Pick<OutputEvent, "text">): void => {
    this.#text += text
    // Only the end is of interest once there is too much; the result has the rest.
    if (this.#text.length > LONGEST) this.#text = `…${this.#text.slice(1 - LONGEST)}`
    this.#timer ??= setTimeout(() => this.#flush(), EVERY_MS)
  }

  /** Sends what is left, and waits for it: after the result it would come too late. */
  async end(): Promise<void> {
    this.#flush()
    await this.#sending
  }

  #flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const text = this.#text
    this.#text = ""
    if (text === "") return
    // A caller who has gone is noticed elsewhere.
    this.#sending = this.#sending.then(() => this.#send(text)).catch(() => {})
  }
}
