import { collectGarbage } from "../collect-garbage.ts"
import { TASK, turnsOf, twoAgents } from "./two-agents.ts"

export const MESSAGES = 10_000

/** Heap that a message keeps: in the team's thread, and in what each of the two agents remembers. */
export async function measureMessageBytes(): Promise<number> {
  await using team = twoAgents(turnsOf(MESSAGES - 1))
  // What is made once, code above all, is not a message's.
  await team.run(TASK)
  const before = heapAfterCollection()
  await team.run(TASK)
  return (heapAfterCollection() - before) / MESSAGES
}

function heapAfterCollection(): number {
  collectGarbage()
  collectGarbage()
  return process.memoryUsage().heapUsed
}
