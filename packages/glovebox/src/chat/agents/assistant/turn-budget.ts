import type { RequestUsage } from "../../../models/index.ts"
import type { StopKind } from "../../task/index.ts"
import type { AssistantSettings } from "./read-assistant-options.ts"

/** Why a turn ends before its model is done. */
export type Cap = (typeof CAPS)[number]

export const CAPS = ["tool-rounds", "tool-calls", "tokens", "time"] as const satisfies readonly StopKind[]

/** What a turn has used. */
export interface UsedBudget {
  readonly rounds: number
  readonly calls: number
  readonly tokens: number
}

const NOTHING: UsedBudget = { rounds: 0, calls: 0, tokens: 0 }

/** Counts what a turn may use. */
export class TurnBudget {
  readonly #limits: Pick<AssistantSettings, "maxToolRounds" | "maxToolCalls" | "maxTokens">
  #rounds: number
  #calls: number
  #tokens: number

  constructor(
    limits: Pick<AssistantSettings, "maxToolRounds" | "maxToolCalls" | "maxTokens">,
    { rounds, calls, tokens }: UsedBudget = NOTHING,
  ) {
    this.#limits = limits
    this.#rounds = rounds
    this.#calls = calls
    this.#tokens = tokens
  }

  get used(): UsedBudget {
    return { rounds: this.#rounds, calls: this.#calls, tokens: this.#tokens }
  }

  get isOutOfTokens(): boolean {
    return this.#tokens >= (this.#limits.maxTokens ?? Number.POSITIVE_INFINITY)
  }

  use({ promptTokens, completionTokens }: RequestUsage): void {
    this.#tokens += promptTokens + completionTokens
  }

  /** Begins a round: how many of its calls may be made, and the cap when not all of them. */
  admit(calls: number): { readonly admitted: number; readonly cap?: Cap } {
    if (this.isOutOfTokens) return { admitted: 0, cap: "tokens" }
    if (this.#rounds >= this.#limits.maxToolRounds) return { admitted: 0, cap: "tool-rounds" }
    this.#rounds += 1
    const admitted = Math.min(calls, this.#limits.maxToolCalls - this.#calls)
    this.#calls += admitted
    return admitted < calls ? { admitted, cap: "tool-calls" } : { admitted }
  }
}
