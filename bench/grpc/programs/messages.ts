import { RoutedAgent, defineMessage } from "glovebox/core"
import { z } from "zod"
import { CONTENT } from "../workload.ts"

const schema = z.object({ content: z.string() })
const Ask = defineMessage("Ask", schema)
export const Answer = defineMessage("Answer", schema)
const News = defineMessage("News", schema)

// Made once: the bench measures the runtime, not the schema library.
export const ask = Ask({ content: CONTENT })
export const news = News({ content: CONTENT })
const answer = Answer({ content: CONTENT })

/** Answers every question with the same message. */
export class EchoAgent extends RoutedAgent {
  constructor() {
    super("Answers at once.")
    this.on(Ask, async () => answer)
  }
}

export class Subscriber extends RoutedAgent {
  constructor(onNews: () => void) {
    super("Counts what is published.")
    this.on(News, async () => onNews())
  }
}
