import { z } from "zod"
import { type LLMMessage, type RequestUsage, llmMessageSchema } from "../../../models/index.ts"
import { type ChatItem, type ChatMessage, isChatMessage, toModelMessage } from "../../messages/index.ts"
import { NO_USAGE, addUsage } from "../../task/index.ts"

const tokens = z.number().nonnegative()

/** A turn in which the team waits for approvals. */
export const suspendedSocietySchema = z.strictObject({
  /** The ids of the messages that it was asked with. */
  ids: z.array(z.string()),
  asked: z.array(llmMessageSchema),
  /** What the team has said so far. */
  discussion: z.array(llmMessageSchema),
  /** Of the calls of the team itself, which are told of with the answer. */
  usage: z.strictObject({ promptTokens: tokens, completionTokens: tokens }),
})

/** What a turn was asked and what the team said, over the time that it waited. */
export class SocietyTurn {
  #ids: readonly string[] = []
  asked: readonly LLMMessage[] = []
  discussion: readonly LLMMessage[] = []
  usage: RequestUsage = NO_USAGE

  static load(saved: z.output<typeof suspendedSocietySchema>): SocietyTurn {
    const turn = new SocietyTurn()
    turn.#ids = saved.ids
    turn.asked = saved.asked
    turn.discussion = saved.discussion
    turn.usage = saved.usage
    return turn
  }

  /** What of the messages is new to it. */
  ask(messages: readonly ChatMessage[]): readonly ChatMessage[] {
    const news = messages.filter(({ id }) => !this.#ids.includes(id))
    this.#ids = [...this.#ids, ...news.map(({ id }) => id)]
    this.asked = [...this.asked, ...news.map(toModelMessage)]
    return news
  }

  hear(items: readonly ChatItem[], hidden: RequestUsage): void {
    this.discussion = [...this.discussion, ...items.filter(isChatMessage).map(toModelMessage)]
    this.usage = addUsage(this.usage, hidden)
  }

  save(): z.output<typeof suspendedSocietySchema> {
    const { asked, discussion, usage } = this
    return { ids: [...this.#ids], asked: [...asked], discussion: [...discussion], usage }
  }
}
