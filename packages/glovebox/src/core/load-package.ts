import { errorMessage } from "../internal/error-message.ts"
import { GloveboxError } from "./glovebox-error.ts"

/**
 * Loads an optional package where it is used, so that nobody else needs it.
 *
 * @throws PACKAGE_MISSING that names what to install
 */
export async function loadPackage<T>(name: string, feature: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (cause) {
    const isAbsent = cause instanceof Error && "code" in cause && cause.code === "ERR_MODULE_NOT_FOUND"
    throw new GloveboxError(
      "PACKAGE_MISSING",
      isAbsent
        ? `${feature} needs the package ${name}, which is not installed. Run: npm install ${name}`
        : `${feature} needs the package ${name}, which does not load: ${errorMessage(cause)}`,
      { cause },
    )
  }
}
