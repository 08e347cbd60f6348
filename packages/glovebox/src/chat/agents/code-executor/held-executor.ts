import { GloveboxError } from "../../../core/index.ts"
import { type CodeExecutor, createExecutor } from "../../../executors/index.ts"
import { abortable } from "../../../internal/abortable.ts"

interface OwnExecutor {
  readonly executor: CodeExecutor
  readonly watch: Disposable | undefined
}

/** An agent's executor: the one it was given, or one of its own that is made when it is needed. */
export class HeldExecutor {
  readonly #given: CodeExecutor | undefined
  readonly #behind: (executor: CodeExecutor) => CodeExecutor
  readonly #onMade: ((executor: CodeExecutor) => Disposable) | undefined
  #own: Promise<OwnExecutor> | undefined
  #ended = new AbortController()
  #closing: Promise<void> | undefined

  /**
   * @param behind Puts it behind the rules that the agent is bound by.
   * @param onMade Told of one of its own, until that has ended.
   */
  constructor(
    given: CodeExecutor | undefined,
    behind: (executor: CodeExecutor) => CodeExecutor = (executor) => executor,
    onMade?: (executor: CodeExecutor) => Disposable,
  ) {
    this.#given = given && behind(given)
    this.#behind = behind
    this.#onMade = onMade
  }

  get isOwn(): boolean {
    return this.#given === undefined
  }

  async get(signal: AbortSignal): Promise<CodeExecutor> {
    return this.#given ?? (await abortable(this.#make(), signal)).executor
  }

  /** Forgets files; an executor that is not there yet has none. */
  async restart(signal: AbortSignal): Promise<void> {
    const executor = this.#given ?? (await this.#own?.catch(() => undefined))?.executor
    if (executor) await abortable(executor.restart(), signal)
  }

  /** Ends the executor if it is the agent's own, or waits for one that is ending; the next use makes another. */
  async close(): Promise<void> {
    this.#closing = this.#close(this.#closing)
    await this.#closing
  }

  async #close(before: Promise<void> | undefined): Promise<void> {
    const made = this.#own
    this.#own = undefined
    this.#ended.abort(new GloveboxError("EXECUTOR_STOPPED", "The agent was closed."))
    this.#ended = new AbortController()
    const own = await made?.catch(() => undefined)
    try {
      await own?.executor.stop()
    } finally {
      own?.watch?.[Symbol.dispose]()
      // Whoever asked for that was told how it went.
      await before?.catch(() => {})
    }
  }

  #make(): Promise<OwnExecutor> {
    if (this.#own) return this.#own
    // Never the host: `auto` does not choose it.
    const made = createExecutor({ sandbox: "auto", signal: this.#ended.signal }).then((executor) => ({
      executor: this.#behind(executor),
      watch: this.#onMade?.(executor),
    }))
    this.#own = made
    made.catch(() => {
      // The next use tries again.
      if (this.#own === made) this.#own = undefined
    })
    return made
  }
}
