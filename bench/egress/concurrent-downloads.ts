import { collectGarbage } from "../collect-garbage.ts"
import type { Contestant } from "./contestants.ts"
import { downloads } from "./programs.ts"
import { DOWNLOADS, DOWNLOAD_BYTES } from "./settings.ts"

const SAMPLE_EVERY_MS = 5

export interface ConcurrentDownloads {
  readonly seconds: number
  /** Resident memory of this process. */
  readonly beforeBytes: number
  readonly peakBytes: number
}

/** What many downloads at once do to this process, which decides on and passes all of them. */
export async function measureConcurrentDownloads(contestant: Contestant): Promise<ConcurrentDownloads> {
  // Once before, so that what is measured is not the code's own compilation.
  await contestant.seconds(downloads(contestant.origin, DOWNLOADS, 100_000))
  collectGarbage()
  const beforeBytes = process.memoryUsage.rss()
  let peakBytes = beforeBytes
  const sampling = setInterval(() => {
    peakBytes = Math.max(peakBytes, process.memoryUsage.rss())
  }, SAMPLE_EVERY_MS)
  try {
    const seconds = await contestant.seconds(downloads(contestant.origin, DOWNLOADS, DOWNLOAD_BYTES))
    return { seconds, beforeBytes, peakBytes: Math.max(peakBytes, process.memoryUsage.rss()) }
  } finally {
    clearInterval(sampling)
  }
}
