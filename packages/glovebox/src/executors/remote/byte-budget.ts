import { GloveboxError } from "../../core/index.ts"
import { formatBytes } from "../../policy/index.ts"

/** How many bytes that clients sent are held at a time, of all of them together. */
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
        `All clients together have sent ${formatBytes(this.#most)} that are not done with, which is the most. Try again in a second.`,
      )
    }
    this.#used += bytes
  }

  giveBack(bytes: number): void {
    this.#used -= bytes
  }

  /** Takes for a while; the result gives it back, once. */
  hold(bytes: number): () => void {
    this.take(bytes)
    let isBack = false
    return () => {
      if (!isBack) this.giveBack(bytes)
      isBack = true
    }
  }
}
