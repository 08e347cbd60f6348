import { agentId } from "glovebox/core"
import { collectGarbage } from "../collect-garbage.ts"
import { ask } from "./echo-agent.ts"
import { startEchoRuntime } from "./start-echo-runtime.ts"

export const IDLE_AGENTS = 100_000
const WARM_UP_AGENTS = 1_000

/** Heap that an agent keeps after it has handled one message, with its id and its place in the runtime. */
export async function measureIdleAgentBytes(): Promise<number> {
  await using runtime = await startEchoRuntime()
  // What is made once, code above all, is not an agent's.
  for (let index = 0; index < WARM_UP_AGENTS; index += 1)
    await runtime.send(ask, agentId("echo", `w${index}`))
  const before = heapAfterCollection()
  for (let index = 0; index < IDLE_AGENTS; index += 1) {
    await runtime.send(ask, agentId("echo", `conversation-${index}`))
  }
  return (heapAfterCollection() - before) / IDLE_AGENTS
}

function heapAfterCollection(): number {
  collectGarbage()
  collectGarbage()
  return process.memoryUsage().heapUsed
}
