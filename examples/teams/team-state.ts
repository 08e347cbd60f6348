// A team that goes on in another process, in the middle of its work.
//   npx tsx examples/teams/team-state.ts
import {
  BaseChatAgent,
  type ChatMessage,
  type Response,
  RoundRobinGroupChat,
  TextMessage,
  response,
  toText,
} from "glovebox"

class Adder extends BaseChatAgent {
  override async onMessages(messages: readonly ChatMessage[]): Promise<Response> {
    const number = Number(messages.at(-1)?.content) + 1
    return response(TextMessage({ source: this.name, content: String(number) }))
  }
}

function makeTeam(): RoundRobinGroupChat {
  const participants = ["a", "b", "c"].map((name) => new Adder(name, "Adds one."))
  return new RoundRobinGroupChat({ participants, maxTurns: 2 })
}

await using first = makeTeam()
await first.run("1")
const saved = JSON.stringify(await first.saveState())

await using second = makeTeam()
await second.loadState(JSON.parse(saved))
// Without a task a run goes on where the last one ended.
const { messages } = await second.run()
console.log(messages.map((message) => `${message.source}: ${toText(message)}`).join(", "))

/* Prints:
c: 4, a: 5
*/
