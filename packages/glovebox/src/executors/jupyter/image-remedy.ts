import { GloveboxError } from "../../core/index.ts"
import { DEFAULT_IMAGE } from "./jupyter-options.ts"

/** The same error, or for the default image, which no registry has, one that says how to get it. */
export function withRemedy(error: unknown, image: string): unknown {
  if (image !== DEFAULT_IMAGE || !GloveboxError.is(error, "IMAGE_UNAVAILABLE")) return error
  return new GloveboxError(
    "IMAGE_UNAVAILABLE",
    `The engine has no image ${image}. Build it with scripts/jupyter-image of Glovebox's repository, or name an image with ipykernel by the option image.`,
    { cause: error },
  )
}
