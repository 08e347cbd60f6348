import { abortable } from "../../../internal/abortable.ts"
import type { Engine } from "../engine.ts"

// The container is to end at once after this.
const READ_LIMIT_MS = 300

/** The CPU time that a container has used; undefined where the engine does not tell, or not soon. */
export async function cpuSecondsOf(engine: Engine, id: string): Promise<number | undefined> {
  const reading = engine.ask("tell what a container uses", async (docker) =>
    docker.getContainer(id).stats({ stream: false, "one-shot": true }),
  )
  try {
    const stats = await abortable(reading, AbortSignal.timeout(READ_LIMIT_MS))
    const nanoseconds: unknown = stats.cpu_stats?.cpu_usage?.total_usage
    // A container that has ended is told as one that used nothing.
    return typeof nanoseconds === "number" && nanoseconds > 0 ? nanoseconds / 1e9 : undefined
  } catch {
    return undefined
  }
}
