import { GloveboxError } from "../../core/index.ts"
import { formatBytes } from "../../policy/index.ts"

/** How many bytes of all clients are held at a time. */
export class ByteBudget {
  readonly #most: number
  #used = 0

  constructor(most: number) {
    this.#most = most
  }

  take(bytes: number): void {
    if (this.#used + bytes > this.#most) {
      throw new GloveboxError(
        "TRY_LATER",
        `All clients together have ${formatBytes(this.#most)} on their way here, which is the most. Try again in a second.`,
      )
    }
    this.#used += bytes
  }

  giveBack(bytes: number): void {
    this.#used -= bytes
  }
}
