interface Call<Request, Reply> {
  readonly request: Request
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: unknown) => void
  next: Call<Request, Reply> | undefined
}

/** The least that can be called an agent: a queue, a drain in a microtask, a promise for each call. */
export class PromiseMailbox<Request, Reply> {
  readonly #handler: (request: Request) => Promise<Reply>
  // A list rather than an array: an idle mailbox then keeps no garbage alive, however many there are.
  #head: Call<Request, Reply> | undefined
  #tail: Call<Request, Reply> | undefined
  #isDraining = false

  constructor(handler: (request: Request) => Promise<Reply>) {
    this.#handler = handler
  }

  call(request: Request): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const call = { request, resolve, reject, next: undefined }
      if (this.#tail) this.#tail.next = call
      else this.#head = call
      this.#tail = call
      if (this.#isDraining) return
      this.#isDraining = true
      queueMicrotask(() => void this.#drain())
    })
  }

  async #drain(): Promise<void> {
    for (let call = this.#head; call; call = this.#head) {
      this.#head = call.next
      if (!this.#head) this.#tail = undefined
      try {
        call.resolve(await this.#handler(call.request))
      } catch (error) {
        call.reject(error)
      }
    }
    this.#isDraining = false
  }
}
