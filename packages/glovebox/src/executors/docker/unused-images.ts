import type { Engine, FoundImage } from "./engine.ts"
import { PREPARED_LABEL } from "./prepared-image.ts"

// A younger one may be about to be used by the process that made it.
const UNUSED_FOR_MS = 24 * 3_600_000

/** Images that were prepared for functions, a day old at least, and of which no container is. */
export async function findUnusedImages(engine: Engine, now = Date.now()): Promise<FoundImage[]> {
  const images = await engine.listImages(PREPARED_LABEL)
  const used = await engine.usedImages()
  return images.filter(({ id, createdAt }) => !used.has(id) && now - createdAt.getTime() > UNUSED_FOR_MS)
}
