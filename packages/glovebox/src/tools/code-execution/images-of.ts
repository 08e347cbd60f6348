import type { CodeResult } from "../../executors/index.ts"
import { type Image, image } from "../../models/index.ts"

// More than models take in one message, or want to pay for.
const MOST_IMAGES = 4
const LARGEST_BYTES = 4 * 1024 ** 2

/** The images that a run made or showed, as far as a model takes them. */
export function imagesOf({
  artifacts,
  outputs = [],
}: Pick<CodeResult, "artifacts" | "outputs">): readonly Image[] {
  // What is shown is often saved to a file too, and named by it.
  const saved = new Set(artifacts.map(({ path }) => path))
  const shown = outputs.flatMap(({ data, artifact }) =>
    data instanceof Uint8Array && !(artifact !== undefined && saved.has(artifact)) ? [data] : [],
  )
  const found: Image[] = []
  for (const bytes of [...artifacts.map(({ content }) => content), ...shown]) {
    const read = found.length < MOST_IMAGES ? asImage(bytes) : undefined
    if (read) found.push(read)
  }
  return found
}

/** The bytes as an image; undefined when they are none, or too large for a model. */
export function asImage(bytes: Uint8Array): Image | undefined {
  if (bytes.length > LARGEST_BYTES) return undefined
  try {
    return image(bytes)
  } catch {
    return undefined
  }
}
