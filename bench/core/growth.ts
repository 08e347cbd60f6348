import { type AgentId, agentId } from "glovebox/core"
import { collectGarbage } from "../collect-garbage.ts"
import { median } from "../median.ts"
import { shuffle } from "../shuffle.ts"
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

/** What a message costs with 100,000 agents over what it costs with 10. */
export interface GrowthRatios {
  readonly growth100kAgents: number
  readonly growth100kAgentsByMinimum: number
  readonly baselineGrowth100kAgents: number
  readonly baselineGrowth100kAgentsByMinimum: number
}

/** In turn: each agent after the one made before it. Shuffled: an order that no cache of the CPU can foresee. */
export type VisitingOrder = "in turn" | "shuffled"

type Send = (id: AgentId) => Promise<unknown>

/** Agents of one runtime, as many mailboxes of the baseline, and what messages to them have cost. */
interface Crowd extends AsyncDisposable {
  readonly agents: number
  readonly visits: readonly AgentId[]
  readonly ours: Send
  readonly baseline: Send
  readonly costsNs: number[]
  readonly baselineCostsNs: number[]
}

export const GROWTH_ROUNDS = 5
const SIZES = [10, 100, 1_000, 10_000, 100_000]
// As many as the largest crowd has agents, so that each gets one.
const MESSAGES = 100_000

/** One agent a key, and at every size the same number of messages, spread evenly over all agents. */
export async function measureGrowth(order: VisitingOrder): Promise<GrowthPoint[]> {
  const crowds: Crowd[] = []
  try {
    for (const size of SIZES) crowds.push(await gatherCrowd(size, order))
    // Agents that live long are in the old generation; here too.
    collectGarbage()
    for (const { visits, ours, baseline } of crowds) {
      await costPerMessage(visits, ours)
      await costPerMessage(visits, baseline)
    }
    // The sizes take turns, so that a slow moment of the machine does not fall on one of them.
    for (let round = 0; round < GROWTH_ROUNDS; round += 1) {
      for (const crowd of round % 2 === 0 ? crowds : crowds.toReversed()) {
        crowd.costsNs.push(await costPerMessage(crowd.visits, crowd.ours))
        crowd.baselineCostsNs.push(await costPerMessage(crowd.visits, crowd.baseline))
      }
    }
    return crowds.map(growthPoint)
  } finally {
    for (const crowd of crowds) await crowd[Symbol.asyncDispose]()
  }
}

export function growthRatios(points: readonly GrowthPoint[]): GrowthRatios {
  const fewest = points[0]
  const most = points.at(-1)
  if (!fewest || !most) throw new Error("There is no growth without points.")
  return {
    growth100kAgents: most.medianNs / fewest.medianNs,
    growth100kAgentsByMinimum: most.minimumNs / fewest.minimumNs,
    baselineGrowth100kAgents: most.baselineMedianNs / fewest.baselineMedianNs,
    baselineGrowth100kAgentsByMinimum: most.baselineMinimumNs / fewest.baselineMinimumNs,
  }
}

async function gatherCrowd(agents: number, order: VisitingOrder): Promise<Crowd> {
  const ids = Array.from({ length: agents }, (_, index) => agentId("echo", `conversation-${index}`))
  const runtime = await startEchoRuntime()
  const mailboxes = new Map(ids.map(({ key }) => [key, new PromiseMailbox(echoHandler())]))
  const ours: Send = (id) => runtime.send(ask, id)
  const baseline: Send = ({ key }) => {
    const mailbox = mailboxes.get(key)
    if (!mailbox) throw new Error(`There is no mailbox ${key}.`)
    return mailbox.call(ask)
  }
  for (const id of ids) await ours(id)
  for (const id of ids) await baseline(id)
  return {
    agents,
    visits: visitsOf(ids, order),
    ours,
    baseline,
    costsNs: [],
    baselineCostsNs: [],
    [Symbol.asyncDispose]: () => runtime.close(),
  }
}

/** Every id equally often. */
function visitsOf(ids: readonly AgentId[], order: VisitingOrder): AgentId[] {
  const round = order === "shuffled" ? shuffle(ids) : ids
  return Array.from({ length: MESSAGES / ids.length }, () => round).flat()
}

async function costPerMessage(visits: readonly AgentId[], send: Send): Promise<number> {
  const start = performance.now()
  for (const id of visits) await send(id)
  return ((performance.now() - start) * 1e6) / visits.length
}

function growthPoint({ agents, costsNs, baselineCostsNs }: Crowd): GrowthPoint {
  return {
    agents,
    medianNs: Math.round(median(costsNs)),
    minimumNs: Math.round(Math.min(...costsNs)),
    baselineMedianNs: Math.round(median(baselineCostsNs)),
    baselineMinimumNs: Math.round(Math.min(...baselineCostsNs)),
  }
}
