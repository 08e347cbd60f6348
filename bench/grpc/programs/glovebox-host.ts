import { GrpcWorkerAgentRuntimeHost } from "glovebox/runtimes/grpc"
import { answerLines } from "./answer-lines.ts"

const host = new GrpcWorkerAgentRuntimeHost({ address: "127.0.0.1:0" })
await host.start()
await answerLines(host.address, {})
await host.stop({ graceMs: 1 })
