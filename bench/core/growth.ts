import { type AgentId, type Message, agentId } from "glovebox/core"
import { collectGarbage } from "../collect-garbage.ts"
import { median } from "../median.ts"
import { ask, echoHandler } from "./echo-agent.ts"
import { PromiseMailbox } from "./promise-mailbox.ts"
import { startEchoRuntime } from "./start-echo-runtime.ts"

/** What a message costs when there are so many agents, in nanoseconds. */
export interface GrowthPoint {
  readonly agents: number
  readonly medianNs: number
  readonly minimumNs: number
  readonly baselineMedianNs: number
  readonly baselineMinimumNs: number
}

interface Crowd {
  readonly agents: number
  /** The agents to send to, one after the other. */
  readonly visits: readonly AgentId[]
  readonly ours: Contender
  readonly baseline: Contender
}

interface Contender {
  readonly send: (id: AgentId) => Promise<unknown>
  readonly costsNs: number[]
}

export const GROWTH_SIZES = [10, 100, 1_000, 10_000, 100_000]
export const GROWTH_ROUNDS = 7
// As many as the largest crowd has agents, so that each gets one.
const MESSAGES = 100_000

/** One agent a key, and at every size the same number of messages, spread evenly over all agents. */
export async function measureGrowth(): Promise<GrowthPoint[]> {
  await using runtimes = new AsyncDisposableStack()
  const crowds: Crowd[] = []
  for (const size of GROWTH_SIZES) {
    const runtime = runtimes.use(await startEchoRuntime())
    crowds.push(await gather(size, (id) => runtime.send(ask, id)))
  }
  // Agents that live long are in the old generation; here too.
  collectGarbage()
  await takeTurns(crowds)
  for (const { ours, baseline } of crowds) ours.costsNs.length = baseline.costsNs.length = 0
  // The sizes take turns, so that a slow moment of the machine does not fall on one of them.
  for (let round = 0; round < GROWTH_ROUNDS; round += 1) {
    await takeTurns(round % 2 === 0 ? crowds : crowds.toReversed())
  }
  return crowds.map(({ agents, ours, baseline }) => ({
    agents,
    medianNs: Math.round(median(ours.costsNs)),
    minimumNs: Math.round(Math.min(...ours.costsNs)),
    baselineMedianNs: Math.round(median(baseline.costsNs)),
    baselineMinimumNs: Math.round(Math.min(...baseline.costsNs)),
  }))
}
