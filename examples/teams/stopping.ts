// Ways to end a run: an abort, leaving the loop, a stop button. The team works again after each.
//   npx tsx examples/teams/stopping.ts
import {
  BaseChatAgent,
  ExternalTermination,
  type Response,
  RoundRobinGroupChat,
  TextMessage,
  response,
} from "glovebox"

class Ticker extends BaseChatAgent {
  override async onMessages(): Promise<Response> {
    return response(TextMessage({ source: this.name, content: "tick" }))
  }
}

const button = new ExternalTermination()
const participants = [new Ticker("left", "Ticks."), new Ticker("right", "Ticks too.")]
await using team = new RoundRobinGroupChat({ participants, terminationCondition: button })

const controller = new AbortController()
const run = team.run("Tick for ever.", { signal: controller.signal })
controller.abort(new Error("that is enough"))
await run.catch((error: unknown) => console.log(`aborted: ${String(error)}`))

let ticks = 0
for await (const item of team.runStream("Again.")) {
  if (item.type === "TextMessage" && item.source === "left" && (ticks += 1) === 3) break
}
console.log(`left the loop after ${ticks} ticks`)

for await (const item of team.runStream("Once more.")) {
  if (item.type === "TaskResult") console.log(`${item.stopKind}: ${item.stopReason}`)
  else if (item.source === "right") button.set()
}

/* Prints:
aborted: Error: that is enough
left the loop after 3 ticks
condition: A stop was asked for from outside.
*/
