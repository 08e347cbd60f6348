import { collectGarbage } from "../collect-garbage.ts"
import type { EngineBed } from "./engine-bed.ts"
import { SettlingExecutor } from "./settling-executor.ts"

const BYTES = 1024 ** 3
const KEPT = "8MiB"
const SAMPLE_EVERY_MS = 5
const BOMB = `import os\nline = b"x" * 65535 + b"\\n"\nfor _ in range(${BYTES / 65_536}): os.write(1, line)`

export interface OutputBomb {
  /** Resident memory of this process. */
  readonly beforeBytes: number
  readonly peakBytes: number
  readonly ms: number
}

/** What a gigabyte of output does to this process when the limits let it come. */
export async function measureOutputBomb(bed: EngineBed): Promise<OutputBomb> {
  await using executor = await SettlingExecutor.start(bed, 1, {
    timeout: "5m",
    policy: { limits: { output: KEPT } },
  })
  collectGarbage()
  const beforeBytes = process.memoryUsage.rss()
  let peakBytes = beforeBytes
  const sampling = setInterval(() => {
    peakBytes = Math.max(peakBytes, process.memoryUsage.rss())
  }, SAMPLE_EVERY_MS)
  try {
    const startedAt = performance.now()
    const { exitCode, truncated, termination } = await executor.run(BOMB)
    const ms = performance.now() - startedAt
    if (exitCode !== 0 || !truncated) throw new Error(`The output bomb ended by ${termination}, ${exitCode}.`)
    return { beforeBytes, peakBytes: Math.max(peakBytes, process.memoryUsage.rss()), ms }
  } finally {
    clearInterval(sampling)
  }
}
