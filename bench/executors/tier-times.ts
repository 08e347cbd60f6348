import { setTimeout as sleep } from "node:timers/promises"
import type { CodeExecutor, CodeResult } from "glovebox/executors"
import { runOnHost } from "../host-python.ts"
import { type Contender, interleave, timed } from "../interleave.ts"
import { median } from "../median.ts"
import { LOOP, PRINT, checkPrinted } from "../programs.ts"
import { ROUNDS } from "./settings.ts"
import type { Tier, TierOptions } from "./tiers.ts"

export interface TierTimes {
  readonly name: string
  /** From nothing to an executor that can run code. */
  readonly readyMs: number
  /** One line in a sandbox that nobody used before; undefined where there is none. */
  readonly freshMs: number | undefined
  /** One line in a sandbox that is there already. */
  readonly sessionMs: number | undefined
  readonly hostMs: number
  readonly loopMs: number
  readonly hostLoopMs: number
  /** From the deadline of a program that never ends to its result. */
  readonly killMs: number
}

const READY_SAMPLES = 3
const KILL_SAMPLES = 5
const WALL_MS = 500
// Until a sandbox that waits has taken the place of the one that was used.
const REFILL_MS = 1_500

/** What code costs in one tier, beside the host's own Python in the same turns. */
export async function measureTier(tier: Tier, python: string): Promise<TierTimes> {
  const readyMs = await measureReady(tier)
  await using fresh = tier.isolations.includes("run") ? tier.create({ isolation: "run" }) : undefined
  await using session = tier.isolations.includes("session")
    ? tier.create({ isolation: "session" })
    : undefined
  await fresh?.start()
  await session?.start()
  const last = session ?? fresh
  if (!last) throw new Error(`The tier ${tier.name} runs nothing.`)
  type Name = "hostMs" | "freshMs" | "sessionMs" | "loopMs" | "hostLoopMs"
  const contenders: Contender<Name>[] = [
    { sample: async () => ({ hostMs: await timed(async () => runOnHost(python, PRINT)) }) },
    ...(fresh
      ? [
          {
            sample: async () => ({ freshMs: await timed(async () => print(fresh, PRINT)) }),
            settle: async () => sleep(REFILL_MS),
          },
        ]
      : []),
    ...(session
      ? [{ sample: async () => ({ sessionMs: await timed(async () => print(session, PRINT)) }) }]
      : []),
    { sample: async () => ({ hostLoopMs: await timed(async () => runOnHost(python, LOOP)) }) },
    {
      sample: async () => ({ loopMs: await timed(async () => print(last, LOOP)) }),
      settle: async () => sleep(session ? 0 : REFILL_MS),
    },
  ]
  const times: Partial<Record<Name, number>> & Record<"hostMs" | "loopMs" | "hostLoopMs", number> =
    await interleave(contenders, ROUNDS)
  return {
    name: tier.name,
    readyMs,
    freshMs: times.freshMs,
    sessionMs: times.sessionMs,
    hostMs: times.hostMs,
    loopMs: times.loopMs,
    hostLoopMs: times.hostLoopMs,
    killMs: await measureKill(tier),
  }
}

async function measureReady(tier: Tier): Promise<number> {
  const times: number[] = []
  for (let sample = 0; sample < READY_SAMPLES; sample += 1) {
    await using executor = tier.create(firstWay(tier))
    times.push(await timed(async () => executor.start()))
  }
  return median(times)
}

async function measureKill(tier: Tier): Promise<number> {
  const times: number[] = []
  await using executor = tier.create({ ...firstWay(tier), timeout: WALL_MS })
  await executor.start()
  for (let sample = 0; sample < KILL_SAMPLES; sample += 1) {
    const startedAt = performance.now()
    const { termination } = await run(executor, "while True: pass")
    times.push(performance.now() - startedAt - WALL_MS)
    if (termination !== "timeout")
      throw new Error(`A loop without end ended by ${termination} in ${tier.name}.`)
    await sleep(REFILL_MS)
  }
  return median(times)
}

function firstWay({ isolations: [isolation = "run"] }: Tier): TierOptions {
  return { isolation }
}

async function print(executor: CodeExecutor, code: string): Promise<void> {
  const { output, exitCode } = await run(executor, code)
  checkPrinted(output, exitCode)
}

async function run(executor: CodeExecutor, code: string): Promise<CodeResult> {
  return executor.executeCodeBlocks([{ language: "python", code }])
}
