// Code runs on the machine that has the sandbox; the agent that wants it is elsewhere. Here all three are one process.
//   npx tsx examples/distributed/remote-executor.ts
import { RemoteCodeExecutor, serveCodeExecutor } from "glovebox/executors/remote"
import { WasmCodeExecutor } from "glovebox/executors/wasm"
import { GrpcWorkerAgentRuntime, GrpcWorkerAgentRuntimeHost } from "glovebox/runtimes/grpc"

await using host = new GrpcWorkerAgentRuntimeHost({ address: "127.0.0.1:0" })
await host.start()

// The machine with the sandbox: what code may do is decided here, for all who ask.
await using machine = new GrpcWorkerAgentRuntime({ hostAddress: host.address })
await serveCodeExecutor(machine, {
  executor: () => new WasmCodeExecutor({ timeout: "10s", memory: "128MiB" }),
  maxKeys: 8,
  maxRuns: 2,
})
await machine.start()

// The client: it knows the host, and nothing of the machine.
await using client = new GrpcWorkerAgentRuntime({ hostAddress: host.address })
await client.start()
await using executor = new RemoteCodeExecutor({ runtime: client })
console.log(`before: ${executor.kind}`)
await executor.start()
console.log("the far end says:", executor.kind, executor.policy?.fields.network)

await executor.putFiles([{ path: "heights.txt", content: Buffer.from("1.71 1.64 1.93") }])
const code = `import statistics
heights = [float(word) for word in open("heights.txt").read().split()]
print("mean", statistics.mean(heights))
open("sorted.txt", "w").write(str(sorted(heights)))`
const { exitCode, artifacts } = await executor.executeCodeBlocks([{ language: "python", code }], {
  onOutput: ({ text }) => process.stdout.write(text),
})
console.log(`exit code ${exitCode}`)
for (const { path, content } of artifacts) console.log(`${path}: ${Buffer.from(content).toString()}`)

/* Prints:
before: remote
the far end says: wasm none
mean 1.76
exit code 0
sorted.txt: [1.64, 1.71, 1.93]
*/
