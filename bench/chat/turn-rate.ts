import { type Batch, measureRates } from "../measure-rates.ts"
import { TASK, turnsOf, twoAgents } from "./two-agents.ts"

/** How many turns a run has; each begins a conversation of its own. */
export const TURNS = 100

/** Turns a second of conversations that are still short. */
export async function measureTurnRate(): Promise<number> {
  await using team = twoAgents(turnsOf(TURNS))
  const converse: Batch = async () => {
    const { messages } = await team.run(TASK)
    if (messages.length !== TURNS + 1) throw new Error(`A run had ${messages.length} messages.`)
    await team.reset()
    return TURNS
  }
  const { ours } = await measureRates({ ours: converse })
  return ours
}
