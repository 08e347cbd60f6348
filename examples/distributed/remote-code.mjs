// Runs code on whatever machine serves a sandbox at the host: glovebox worker --executor, or fleet.mjs.
//   node examples/distributed/remote-code.mjs [agent type]
import { RemoteCodeExecutor } from "glovebox/executors/remote"
import { GrpcWorkerAgentRuntime } from "glovebox/runtimes/grpc"

const [agentType = "executor"] = process.argv.slice(2)
const runtime = new GrpcWorkerAgentRuntime({ hostAddress: process.env.HOST_ADDRESS ?? "127.0.0.1:50051" })
await runtime.start()

const code = "import time; time.sleep(1); print(sum(range(10)))"
const runs = Array.from({ length: 4 }, async () => {
  const executor = new RemoteCodeExecutor({ runtime, agentType })
  try {
    const { output, sandbox } = await executor.executeCodeBlocks([{ language: "python", code }])
    return `${output.trim()}, in ${executor.kind} at ${sandbox?.engine ?? "that machine"}`
  } finally {
    await executor.stop()
  }
})
for (const line of await Promise.all(runs)) console.log(line)
await runtime.close()
