import { median } from "../median.ts"
import type { EngineBed } from "./engine-bed.ts"
import { SettlingExecutor } from "./settling-executor.ts"

const CONTAINERS = 4

interface MemoryStats {
  readonly usage: number
  readonly stats: { readonly inactive_file?: number; readonly total_inactive_file?: number }
}

/** What a pooled container holds that waits: its cgroup's memory as `docker stats` counts it. */
export async function measureIdleContainerBytes(bed: EngineBed): Promise<number> {
  await using executor = await SettlingExecutor.start(bed, CONTAINERS)
  const bytes = await Promise.all(executor.containerIds.map(async (id) => memoryOf(bed, id)))
  return median(bytes)
}

async function memoryOf({ engine }: EngineBed, id: string): Promise<number> {
  return engine.ask("measure a container", async (docker) => {
    const answer: unknown = await docker.getContainer(id).stats({ stream: false, "one-shot": true })
    const { usage, stats } = (answer as { memory_stats: MemoryStats }).memory_stats
    // File pages that the kernel can drop are not the container's; the first name is cgroup v1's.
    return usage - (stats.total_inactive_file ?? stats.inactive_file ?? 0)
  })
}
