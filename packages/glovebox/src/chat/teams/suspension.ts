import type { RequestUsage } from "../../models/index.ts"
import type { ChatItem, ChatMessage } from "../messages/index.ts"
import { NO_USAGE, waitsFor } from "../task/index.ts"

/** A turn in which somebody waits for approvals: what was done of it is kept until it ends. */
export interface SuspendedTurn {
  readonly speaker: string
  /** Told in it so far. */
  readonly items: readonly ChatItem[]
  /** What of that the others hear when it has ended. */
  readonly said: readonly ChatMessage[]
  /** The ids of the requests. */
  readonly pending: readonly string[]
}

/** The turns of a team that wait for approvals. */
export class Suspension {
  readonly #turns = new Map<string, SuspendedTurn>()
  /** What model calls used before the run was suspended, and its condition does not know of. */
  unseen: RequestUsage = NO_USAGE

  get turns(): readonly SuspendedTurn[] {
    return [...this.#turns.values()]
  }

  get speakers(): readonly string[] {
    return [...this.#turns.keys()]
  }

  get pending(): readonly string[] {
    return [...new Set(this.turns.flatMap(({ pending }) => pending))]
  }

  /** In words, for people. */
  get reason(): string {
    return this.turns.map(({ speaker, pending }) => waitsFor(speaker, pending)).join(" ")
  }

  /** The ids of what was told in a turn before it had to wait. */
  told(speaker: string): readonly string[] {
    return this.#turns.get(speaker)?.items.map(({ id }) => id) ?? []
  }

  keep(turn: SuspendedTurn): void {
    this.#turns.set(turn.speaker, { ...this.#whole(turn), speaker: turn.speaker, pending: turn.pending })
  }

  /** A turn has ended: gives all of it, and forgets it. */
  end(turn: Omit<SuspendedTurn, "pending">): Pick<SuspendedTurn, "items" | "said"> {
    const whole = this.#whole(turn)
    this.#turns.delete(turn.speaker)
    return whole
  }

  clear(): void {
    this.load([], NO_USAGE)
  }

  load(turns: readonly SuspendedTurn[], unseen: RequestUsage): void {
    this.#turns.clear()
    for (const turn of turns) this.#turns.set(turn.speaker, turn)
    this.unseen = unseen
  }

  #whole({ speaker, items, said }: Omit<SuspendedTurn, "pending">): Pick<SuspendedTurn, "items" | "said"> {
    const before = this.#turns.get(speaker)
    if (!before) return { items, said }
    return { items: [...before.items, ...items], said: [...before.said, ...said] }
  }
}
