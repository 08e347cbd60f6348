/** A promise that tells whenever somebody waits for it, which a plain one keeps to itself. */
export class ObservedPromise<T> extends Promise<T> {
  /** Runs in the context of whoever waits. */
  onObserved: (() => void) | undefined

  // What `then` gives is an ordinary promise again.
  static override get [Symbol.species](): PromiseConstructor {
    return Promise
  }

  // oxlint-disable-next-line unicorn/no-thenable -- a promise has one
  override then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.onObserved?.()
    return super.then(onFulfilled, onRejected)
  }
}
