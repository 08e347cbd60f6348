import { Console } from "node:console"
import { GrpcWorkerAgentRuntimeHost, type GrpcWorkerAgentRuntimeHostOptions } from "../index.ts"
import { answerLines, memory } from "./program-lines.test-kit.ts"

// A host in a process of its own, which begins when it is told to.
let host: GrpcWorkerAgentRuntimeHost | undefined

answerLines({
  start: async ({ options }) => {
    const logger = new Console(process.stderr)
    host = new GrpcWorkerAgentRuntimeHost({ logger, ...(options as GrpcWorkerAgentRuntimeHostOptions) })
    await host.start()
    return host.address
  },
  memory: async () => memory(),
  status: async () => ({ ...host?.status(), metrics: host?.metrics() }),
})
