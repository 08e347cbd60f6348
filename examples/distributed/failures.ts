// What a caller gets when something goes wrong: an error with a code, and soon.
//   npx tsx examples/distributed/failures.ts
import { EventEmitter, once } from "node:events"
import { GloveboxError, RoutedAgent, agentId, defineMessage } from "glovebox/core"
import { GrpcWorkerAgentRuntime, GrpcWorkerAgentRuntimeHost } from "glovebox/runtimes/grpc"
import { z } from "zod"

const Task = defineMessage("Task", z.object({ what: z.string() }))
const Other = defineMessage("Other", z.object({}))
const news = new EventEmitter()

class Clerk extends RoutedAgent {
  constructor() {
    super("Fails, or is never done.")
    this.on(Task, async ({ what }, { signal }) => {
      if (what === "fail") throw new Error("the printer is on fire")
      news.emit("begun")
      await once(signal, "abort")
      signal.throwIfAborted()
    })
  }
}

await using host = new GrpcWorkerAgentRuntimeHost({ address: "127.0.0.1:0", graceMs: 500 })
await host.start()
await using worker = new GrpcWorkerAgentRuntime({ hostAddress: host.address })
await worker.register("clerk", () => new Clerk())
await worker.register("broken", () => {
  throw new Error("no desk left")
})
await worker.start()
await using client = new GrpcWorkerAgentRuntime({ hostAddress: host.address })
client.addMessageType(Task)
client.addMessageType(Other)
await client.start()

const clerk = agentId("clerk", "1")
await told("no such type", client.send(Task({ what: "work" }), agentId("cleric", "1")))
await told("the handler throws", client.send(Task({ what: "fail" }), clerk))
await told("the agent cannot be made", client.send(Task({ what: "work" }), agentId("broken", "1")))
await told("nobody handles it", client.send(Other({}), clerk))
await told("no answer in time", client.send(Task({ what: "work" }), clerk, { timeoutMs: 100 }))
await told("cancelled", client.send(Task({ what: "work" }), clerk, { signal: AbortSignal.timeout(100) }))
await told("too large", client.send(Task({ what: "x".repeat(5_000_000) }), clerk))

const begun = once(news, "begun")
const pending = told("the worker leaves", client.send(Task({ what: "work" }), clerk))
await begun
await worker.stop()
await pending
await told("nobody has the type now", client.send(Task({ what: "work" }), clerk))
await host.stop({ graceMs: 0 })
await told("the host is gone", client.send(Task({ what: "work" }), clerk))

async function told(what: string, reply: Promise<unknown>): Promise<void> {
  const error = await reply.catch((thrown: unknown) => thrown)
  const name = GloveboxError.is(error) ? error.code : (error as Error).name
  console.log(`${what}: ${name}`)
}

/* Prints:
no such type: AGENT_TYPE_UNKNOWN
the handler throws: AGENT_FAILED
the agent cannot be made: AGENT_CREATION_FAILED
nobody handles it: MESSAGE_UNHANDLED
no answer in time: SEND_TIMEOUT
cancelled: TimeoutError
too large: MESSAGE_TOO_LARGE
the worker leaves: RUNTIME_STOPPED
nobody has the type now: AGENT_TYPE_UNKNOWN
the host is gone: HOST_UNAVAILABLE
*/
