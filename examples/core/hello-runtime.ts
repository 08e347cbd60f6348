// Agents in a runtime: one answers and publishes, another hears it.
//   npx tsx examples/core/hello-runtime.ts
import {
  RoutedAgent,
  SingleThreadedAgentRuntime,
  agentId,
  defaultSubscription,
  defineMessage,
} from "glovebox/core"
import { z } from "zod"

const Greet = defineMessage("Greet", z.object({ name: z.string() }))
const Greeting = defineMessage("Greeting", z.object({ text: z.string() }))

class Greeter extends RoutedAgent {
  constructor() {
    super("Greets people by name.")
    this.on(Greet, async ({ name }) => {
      const greeting = Greeting({ text: `Hello, ${name}!` })
      await this.publish(greeting)
      return greeting
    })
  }
}

class Recorder extends RoutedAgent {
  constructor() {
    super("Writes down every greeting.")
    this.on(Greeting, ({ text }, { topicId }) => {
      console.log(`recorder ${this.id.key} heard "${text}" on ${topicId?.type}/${topicId?.source}`)
    })
  }
}

await using runtime = new SingleThreadedAgentRuntime()
await runtime.register("greeter", () => new Greeter())
await runtime.register("recorder", () => new Recorder(), { subscriptions: [defaultSubscription()] })
runtime.start()

// The key names the conversation: each has its own greeter and its own recorder.
const reply = await runtime.send(Greet({ name: "Ada" }), agentId("greeter", "office"), { expect: Greeting })
console.log(`greeter office answered "${reply.text}"`)

await runtime.stopWhenIdle()

/* Prints:
recorder office heard "Hello, Ada!" on default/office
greeter office answered "Hello, Ada!"
*/
