import { once } from "node:events"
import {
  type AgentRuntime,
  type MessageContext,
  RoutedAgent,
  formatAgentId,
  formatTopicId,
  parseAgentId,
  typePrefixSubscription,
  typeSubscription,
} from "glovebox/core"
import type { EventLog } from "./event-log.ts"
import { Answer, Ask, Reading, Trail, Walk } from "./messages.ts"

type Told = Pick<EventLog, "add">

/** The agents of `python/agents.py`, in TypeScript. */
export async function registerAgents(runtime: AgentRuntime, name: string, events: Told): Promise<void> {
  // What agents handle is added by itself; what they are answered is not.
  for (const answer of [Answer, Reading, Trail]) runtime.addMessageType(answer)
  await runtime.register(`${name}-echo`, () => new Echo())
  await runtime.register(`${name}-trouble`, () => new Trouble(events))
  await runtime.register(`${name}-walker`, () => new Walker())
  await runtime.register(`${name}-listener`, () => new Listener(events), {
    subscriptions: [typeSubscription("news")],
  })
  await runtime.register(`${name}-prefix-listener`, () => new Listener(events), {
    subscriptions: [typePrefixSubscription("weather.")],
  })
  await runtime.register(`${name}-broken`, () => {
    throw new Error("no parts left")
  })
}

export class Echo extends RoutedAgent {
  constructor() {
    super("Answers with what it was asked.")
    this.on(Ask, ({ text, details }, { sender }) =>
      Answer({ text, by: formatAgentId(this.id), sender: sender ? formatAgentId(sender) : "", details }),
    )
    this.on(Reading, ({ sensor, value, good }) => Reading({ sensor, value: value * 2, good: !good }))
  }
}

class Trouble extends RoutedAgent {
  constructor(events: Told) {
    super("Does what the text says.")
    this.on(Ask, async ({ text }, { signal }) => {
      const [what, ...rest] = text.split(":")
      if (what === "fail") throw new Error(rest.join(":"))
      if (what === "fail without text") throw new Error("")
      if (what !== "wait") return
      events.add({ event: "waiting", agent: formatAgentId(this.id) })
      if (!signal.aborted) await once(signal, "abort")
      events.add({ event: "cancelled", agent: formatAgentId(this.id) })
    })
  }
}

class Walker extends RoutedAgent {
  constructor() {
    super("Sends a walk on to the next agent of its path.")
    this.on(Walk, async ({ path, step }) => {
      const self = formatAgentId(this.id)
      const next = path[step]
      if (next === undefined) return Trail({ steps: [self] })
      const { steps } = await this.send(Walk({ path, step: step + 1 }), parseAgentId(next), { expect: Trail })
      return Trail({ steps: [self, ...steps] })
    })
  }
}

class Listener extends RoutedAgent {
  constructor(events: Told) {
    super("Tells the test what it hears.")
    const tell = (type: string, message: object, { topicId, sender, messageId }: MessageContext): void =>
      events.add({
        event: "heard",
        agent: formatAgentId(this.id),
        message: { ...message },
        type,
        topic: topicId ? formatTopicId(topicId) : null,
        sender: sender ? formatAgentId(sender) : null,
        id: messageId,
      })
    this.on(Ask, (message, context) => {
      tell("Ask", message, context)
      if (message.text === "fail") throw new Error("a listener failed")
    })
    this.on(Reading, (message, context) => tell("Reading", message, context))
  }
}
