import { onTestFinished } from "vitest"
import { z } from "zod"
import { RoutedAgent, defineMessage, silentLogger } from "../../core/index.ts"
import {
  GrpcWorkerAgentRuntime,
  GrpcWorkerAgentRuntimeHost,
  type GrpcWorkerAgentRuntimeHostOptions,
  type GrpcWorkerAgentRuntimeOptions,
} from "./index.ts"

export const Ping = defineMessage("Ping", z.object({ text: z.string() }))
export const Pong = defineMessage("Pong", z.object({ text: z.string() }))

export const ping = (text: string): ReturnType<typeof Ping> => Ping({ text })

/** Answers what it is told to. */
export class Echo extends RoutedAgent {
  constructor() {
    super("Answers")
    this.on(Ping, ({ text }) => {
      if (text === "fail") throw new Error("no luck")
      if (text === "nothing") return undefined
      return Pong({ text: `${text} from ${this.id.key}` })
    })
  }
}

/** A started host that ends with the test; it gives up on workers soon. */
export async function startHost(
  options: Partial<GrpcWorkerAgentRuntimeHostOptions> = {},
): Promise<GrpcWorkerAgentRuntimeHost> {
  const host = new GrpcWorkerAgentRuntimeHost({
    address: "127.0.0.1:0",
    graceMs: 800,
    heartbeatMs: 100,
    logger: silentLogger,
    ...options,
  })
  await host.start()
  onTestFinished(async () => host.stop({ graceMs: 0 }))
  return host
}

/** A worker that ends with the test, and knows the messages of the tests. */
export function makeWorker(
  hostAddress: string,
  options: Partial<GrpcWorkerAgentRuntimeOptions> = {},
): GrpcWorkerAgentRuntime {
  const worker = new GrpcWorkerAgentRuntime({ hostAddress, logger: silentLogger, ...options })
  worker.addMessageType(Ping)
  worker.addMessageType(Pong)
  onTestFinished(async () => worker.close().catch(() => {}))
  return worker
}

export async function startWorker(
  hostAddress: string,
  options: Partial<GrpcWorkerAgentRuntimeOptions> = {},
): Promise<GrpcWorkerAgentRuntime> {
  const worker = makeWorker(hostAddress, options)
  await worker.start()
  return worker
}
