/** What `register` of a module gave back, where it has something to put away when the worker ends. */
export class Registered implements AsyncDisposable {
  readonly #given: unknown

  constructor(given: unknown) {
    this.#given = given
  }

  /** Before the worker drains: its `drain` waits for what only new messages can end. */
  async drain(): Promise<void> {
    await call(this.#given, "drain")
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const isAsync = methodOf(this.#given, Symbol.asyncDispose) !== undefined
    await call(this.#given, isAsync ? Symbol.asyncDispose : Symbol.dispose)
  }
}

async function call(given: unknown, name: PropertyKey): Promise<void> {
  await methodOf(given, name)?.call(given)
}

function methodOf(given: unknown, name: PropertyKey): (() => unknown) | undefined {
  if (typeof given !== "object" || given === null) return undefined
  const method: unknown = Reflect.get(given, name)
  return typeof method === "function" ? (method as () => unknown) : undefined
}
