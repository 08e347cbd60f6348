// An agent that sees only some of what is said: here, of each speaker the last word.
//   npx tsx examples/agents/message-filter.ts
import {
  BaseChatAgent,
  type ChatMessage,
  MessageFilterAgent,
  type Response,
  TextMessage,
  answerText,
  response,
  toText,
} from "glovebox"

class Witness extends BaseChatAgent {
  override async onMessages(messages: readonly ChatMessage[]): Promise<Response> {
    const seen = messages.map((message) => `${message.source}: ${toText(message)}`).join("; ")
    return response(TextMessage({ source: this.name, content: `I saw ${seen || "nothing"}` }))
  }
}

const witness = new MessageFilterAgent({
  wrappedAgent: new Witness("witness", "Says what it saw."),
  filter: { perSource: [{ source: "alice", position: "last", count: 1 }, { source: "bob" }] },
})

const result = await witness.run([
  TextMessage({ source: "alice", content: "one" }),
  TextMessage({ source: "eve", content: "two" }),
  TextMessage({ source: "alice", content: "three" }),
  TextMessage({ source: "bob", content: "four" }),
])
console.log(answerText(result))

/* Prints:
I saw alice: three; bob: four
*/
