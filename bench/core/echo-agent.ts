import { type Message, RoutedAgent, defineMessage } from "glovebox/core"
import { z } from "zod"

const schema = z.object({ content: z.string() })
const Ask = defineMessage("Ask", schema)
const Answer = defineMessage("Answer", schema)

// Made once: the benches measure the runtime, not the schema library.
export const ask = Ask({ content: "ping" })
const answer = Answer({ content: "pong" })

/** Answers every question with the same message, and counts. */
export class EchoAgent extends RoutedAgent {
  asked = 0

  constructor() {
    super("Answers at once.")
    this.on(Ask, async () => {
      this.asked += 1
      return answer
    })
  }
}

/** What the baseline's mailboxes do with a message: the same, without an agent. */
export function echoHandler(): (message: Message) => Promise<Message> {
  const counter = { asked: 0 }
  return async () => {
    counter.asked += 1
    return answer
  }
}

export function checkAnswer(reply: unknown): void {
  if (reply !== answer) throw new Error("A request got another answer than its own.")
}
