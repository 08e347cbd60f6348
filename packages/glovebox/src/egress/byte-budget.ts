/** How many bytes a rule lets through, over all its connections. */
export class ByteBudget {
  readonly #most: { readonly up: number; readonly down: number }
  readonly #used: { up: number; down: number }

  constructor(
    most: { readonly up?: number | undefined; readonly down?: number | undefined },
    used = { up: 0, down: 0 },
  ) {
    this.#most = { up: most.up ?? Number.POSITIVE_INFINITY, down: most.down ?? Number.POSITIVE_INFINITY }
    this.#used = used
  }

  get used(): { readonly up: number; readonly down: number } {
    return this.#used
  }

  /** Whether nothing is left in one of the directions. */
  get isSpent(): boolean {
    return this.#used.up >= this.#most.up || this.#used.down >= this.#most.down
  }

  /** Takes as many of the bytes as are left. */
  take(direction: "up" | "down", bytes: number): number {
    const granted = Math.max(0, Math.min(bytes, this.#most[direction] - this.#used[direction]))
    this.#used[direction] += granted
    return granted
  }
}
