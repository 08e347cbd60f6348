import { GloveboxError } from "../../core/index.ts"
import { abortable } from "../../internal/abortable.ts"
import { describe } from "../../internal/describe.ts"
import { Slots } from "../../internal/slots.ts"
import type { UserInput, UserInputRequest } from "../agents/user-input.ts"

// Longer than an event takes from an agent to the screen.
const GRACE_MS = 100

/** Where a Console tells what is on the screen. */
export interface Screen {
  /** The request has been drawn, with all that came before it. */
  drawn(requestId: string): void
  /** Whether there is nothing left to draw for now. */
  idle(isIdle: boolean): void
  /** Nothing will be drawn any more. */
  leave(): void
}

/**
 * Asks people only when all that was said before is on the screen, and one question at a time.
 *
 * @example
 * const userInput = new UserInputManager(({ prompt, signal }) => terminal.question(prompt, { signal }))
 * const user = new UserProxyAgent({ name: "user", input: userInput.input })
 * await Console(team.runStream("task"), { userInput })
 */
export class UserInputManager {
  readonly #ask: UserInput
  readonly #screens = new Map<Screen, { isIdle: boolean; readonly drawn: Set<string> }>()
  readonly #turns = new Slots(1)
  readonly #waiting = new Map<string, () => void>()
  #timer: NodeJS.Timeout | undefined

  constructor(ask: UserInput) {
    if (typeof ask !== "function") {
      throw new GloveboxError(
        "OPTION_INVALID",
        `${describe(ask)} cannot ask anybody. Pass a function that takes { prompt, signal } and gives the answer.`,
      )
    }
    this.#ask = ask
  }

  /** The input function for a `UserProxyAgent`. */
  readonly input = async (request: UserInputRequest): Promise<string> => {
    const { requestId, signal } = request
    const giveBack = await this.#turns.take(signal)
    try {
      await abortable(this.#onScreen(requestId), signal)
      return await abortable(Promise.resolve(this.#ask(request)), signal)
    } finally {
      this.#waiting.delete(requestId)
      giveBack()
    }
  }

  /** Called by Console: from now on questions wait until what came before them is drawn there. */
  attach(): Screen {
    const state = { isIdle: false, drawn: new Set<string>() }
    const screen: Screen = {
      drawn: (requestId) => {
        state.drawn.add(requestId)
        this.#waiting.get(requestId)?.()
      },
      idle: (isIdle) => {
        state.isIdle = isIdle
        this.#look()
      },
      leave: () => {
        this.#screens.delete(screen)
        this.#look()
      },
    }
    this.#screens.set(screen, state)
    return screen
  }

  async #onScreen(requestId: string): Promise<void> {
    const states = [...this.#screens.values()]
    if (states.length === 0 || states.some(({ drawn }) => drawn.has(requestId))) return
    await new Promise<void>((resolve) => {
      this.#waiting.set(requestId, resolve)
      this.#look()
    })
  }

  /** Lets questions through that no screen will ever show: their agent's events may go elsewhere. */
  #look(): void {
    clearTimeout(this.#timer)
    if (this.#waiting.size === 0) return
    const states = [...this.#screens.values()]
    if (states.length === 0) this.#letThrough()
    else if (states.every(({ isIdle }) => isIdle))
      this.#timer = setTimeout(() => this.#letThrough(), GRACE_MS)
  }

  #letThrough(): void {
    for (const resolve of this.#waiting.values()) resolve()
  }
}
