import { type ComponentModel, GloveboxError } from "../../core/index.ts"
import { describe } from "../../internal/describe.ts"
import type { ChatItem } from "../messages/index.ts"
import { type Delta, TerminationCondition } from "./termination-condition.ts"

/** Says whether to stop, from what is new; only `true` stops. */
export type TerminationPredicate = (
  messages: readonly ChatItem[],
  about: Pick<Delta, "isTask">,
) => boolean | Promise<boolean>

/** Fires when the function says so. It is shown the task too. */
export class FunctionalTermination extends TerminationCondition {
  readonly #isOver: TerminationPredicate

  constructor(isOver: TerminationPredicate) {
    super()
    if (typeof isOver !== "function") {
      throw new GloveboxError(
        "OPTION_INVALID",
        `FunctionalTermination cannot be made: ${describe(isOver)} is not a function.`,
      )
    }
    this.#isOver = isOver
  }

  toComponent(): ComponentModel {
    throw new GloveboxError(
      "COMPONENT_INVALID",
      "A FunctionalTermination cannot be written as data, because its function cannot. Extend TerminationCondition.",
    )
  }

  protected override async decide({ messages, isTask }: Delta): Promise<string | undefined> {
    if (messages.length === 0) return undefined
    const isOver: unknown = await this.#isOver(messages, { isTask })
    return isOver === true ? "The function of the condition said so." : undefined
  }
}
