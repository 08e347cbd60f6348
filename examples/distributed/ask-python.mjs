// Asks the agent of autogen_worker.py, and one of ours; what is published reaches both:
//   node examples/distributed/ask-python.mjs
import { agentId } from "glovebox/core"
import { GrpcWorkerAgentRuntime } from "glovebox/runtimes/grpc"
import { Counted, Page } from "./agents.mjs"

const runtime = new GrpcWorkerAgentRuntime({ hostAddress: process.env.HOST_ADDRESS ?? "127.0.0.1:50051" })
runtime.addMessageType(Page)
await runtime.start()
for (const type of ["python_counter", "counter"]) {
  const page = Page({ text: "the quick brown fox" })
  const { words, by } = await runtime.send(page, agentId(type, "novel"), { expect: Counted })
  console.log(`${words} words, counted by ${by}`)
}
await runtime.close()
