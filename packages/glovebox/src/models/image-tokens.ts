import type { Image } from "./image.ts"
import { imageSize } from "./image-size.ts"

/** What an image costs by OpenAI's rule: a base, and a price for each tile of 512 pixels after it was scaled down. */
export function imageTokens(image: Image): number {
  const { width, height } = imageSize(image) ?? { width: 1024, height: 1024 }
  const fit = Math.min(1, 2048 / Math.max(width, height))
  const shortest = Math.min(width, height) * fit
  const scale = fit * Math.min(1, 768 / shortest)
  const tiles = Math.ceil((width * scale) / 512) * Math.ceil((height * scale) / 512)
  return 85 + 170 * tiles
}
