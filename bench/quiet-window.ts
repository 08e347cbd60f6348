import { readFile } from "node:fs/promises"
import { setTimeout as sleep } from "node:timers/promises"

const WINDOW_MS = 40
const PATIENCE_MS = 400
const QUIET_IDLE_SHARE = 0.85

/** Waits for a moment in which the machine has little else to do, but not for long. */
export async function quietWindow(): Promise<void> {
  const until = performance.now() + PATIENCE_MS
  let before = await readTicks()
  while (before && performance.now() < until) {
    await sleep(WINDOW_MS)
    const after = await readTicks()
    if (!after) return
    const total = after.total - before.total
    if (total > 0 && (after.idle - before.idle) / total >= QUIET_IDLE_SHARE) return
    before = after
  }
}

/** Ticks of all processors since boot; undefined where the kernel does not tell. */
async function readTicks(): Promise<{ idle: number; total: number } | undefined> {
  try {
    const [line = ""] = (await readFile("/proc/stat", "latin1")).split("\n", 1)
    const ticks = line.trim().split(/\s+/).slice(1, 9).map(Number)
    return { idle: (ticks[3] ?? 0) + (ticks[4] ?? 0), total: ticks.reduce((sum, each) => sum + each, 0) }
  } catch {
    return undefined
  }
}
