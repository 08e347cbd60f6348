// A team on a runtime of yours, whose interventions see all that is said, and could change or refuse it.
//   npx tsx examples/teams/given-runtime.ts
import { AssistantAgent, RoundRobinGroupChat, SingleThreadedAgentRuntime, isChatItem, toText } from "glovebox"
import type { InterventionHandler } from "glovebox/core"
import { OpenAIChatCompletionClient } from "glovebox/models/openai"
import { scriptedModel } from "../scripted-model.ts"

const modelClient =
  scriptedModel(["Ping.", "Pong."]) ?? new OpenAIChatCompletionClient({ model: "gpt-5-mini" })

const seen: string[] = []
const recorder: InterventionHandler = {
  onSend(message) {
    if ("message" in message && isChatItem(message.message)) seen.push(message.message.source)
    return { action: "allow" }
  },
}

await using runtime = new SingleThreadedAgentRuntime({ interventions: [recorder] })
runtime.start()

const ping = new AssistantAgent({ name: "ping", modelClient, systemMessage: "Say Ping." })
const pong = new AssistantAgent({ name: "pong", modelClient, systemMessage: "Say Pong." })
const team = new RoundRobinGroupChat({ participants: [ping, pong], maxTurns: 2, runtime })

const { messages } = await team.run("Play.")
console.log(messages.map(toText).join(" "))
console.log(`The runtime saw words of ${seen.join(", ")}.`)
await team.close()

/* Prints, with the scripted model:
Play. Ping. Pong.
The runtime saw words of user, ping, pong.
*/
