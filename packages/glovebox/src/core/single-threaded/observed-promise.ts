/** A promise that tells when somebody first waits for it, which a plain one keeps to itself. */
export class ObservedPromise<T> extends Promise<T> {
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
    const { onObserved } = this
    this.onObserved = undefined
    onObserved?.()
    return super.then(onFulfilled, onRejected)
  }
}
