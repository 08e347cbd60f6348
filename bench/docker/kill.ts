import { median } from "../median.ts"
import type { EngineBed } from "./engine-bed.ts"
import { SPINNER } from "../programs.ts"
import { SettlingExecutor } from "./settling-executor.ts"

const SAMPLES = 7
const WALL_MS = 300

export interface KillTimes {
  /** From the deadline to the result. */
  readonly killMs: number
  /** From the deadline until the engine knows nothing of the container. */
  readonly goneMs: number
}

/** How fast a program ends that ignores SIGTERM and spins. */
export async function measureKill(bed: EngineBed): Promise<KillTimes> {
  await using executor = await SettlingExecutor.start(bed, 1, { timeout: WALL_MS })
  const killed: number[] = []
  const gone: number[] = []
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const startedAt = performance.now()
    const { termination, sandbox } = await executor.run(SPINNER)
    killed.push(performance.now() - startedAt - WALL_MS)
    if (termination !== "timeout") throw new Error(`A spinner ended by ${termination}.`)
    while (await isOnEngine(bed, sandbox.containerId)) continue
    gone.push(performance.now() - startedAt - WALL_MS)
    await executor.settle()
  }
  return { killMs: median(killed), goneMs: median(gone) }
}

async function isOnEngine({ engine }: EngineBed, id: string | undefined): Promise<boolean> {
  if (id === undefined) throw new Error("The result names no container.")
  return engine.ask("list a container", async (docker) => {
    const found = await docker.listContainers({ all: true, filters: { id: [id] } })
    return found.length > 0
  })
}
