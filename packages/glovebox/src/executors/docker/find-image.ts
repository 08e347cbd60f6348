import { GloveboxError } from "../../core/index.ts"
import { errorMessage } from "../../internal/error-message.ts"
import type { PullPolicy } from "./docker-options.ts"
import type { Engine, EngineImage } from "./engine.ts"
import type { PullProgress } from "./follow-pull.ts"

/** The image of the policy, pulled when the pull policy says so. */
export async function findImage(
  engine: Engine,
  name: string,
  pull: PullPolicy,
  onProgress: (progress: PullProgress) => void,
  signal?: AbortSignal,
): Promise<EngineImage> {
  const present = pull === "always" ? undefined : await engine.image(name)
  if (present) return present
  if (pull === "never") throw unavailable(name, "the engine has no such image, and pull is never")
  try {
    await engine.pull(name, onProgress, signal)
  } catch (cause) {
    signal?.throwIfAborted()
    if (GloveboxError.is(cause, "ENGINE_UNAVAILABLE")) throw cause
    throw unavailable(name, `the engine could not pull it: ${errorMessage(cause)}`, cause)
  }
  const pulled = await engine.image(name)
  if (!pulled) throw unavailable(name, "the engine pulled it, and does not have it")
  return pulled
}

function unavailable(name: string, why: string, cause?: unknown): GloveboxError {
  return new GloveboxError(
    "IMAGE_UNAVAILABLE",
    `The image ${name} is not to be had: ${why}. Pull or build it, or name another by the policy's image.`,
    { cause },
  )
}
