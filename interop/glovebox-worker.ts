import { GrpcWorkerAgentRuntime } from "glovebox/runtimes/grpc"
import type { LoggedEvent } from "./event-log.ts"
import { registerAgents } from "./glovebox-agents.ts"

// Our worker in a process of its own, for tests that kill it: `glovebox-worker.ts <host address> <name>`.
const [hostAddress = "", name = ""] = process.argv.slice(2)
const tell = (event: LoggedEvent): void => console.log(JSON.stringify(event))

const runtime = new GrpcWorkerAgentRuntime({ hostAddress })
await runtime.start()
await registerAgents(runtime, name, { add: tell })
tell({ event: "ready" })
process.stdin.resume().once("end", () => process.exit())
