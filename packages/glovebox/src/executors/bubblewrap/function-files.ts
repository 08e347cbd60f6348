import { GloveboxError } from "../../core/index.ts"
import { functionsModule } from "../functions/functions-module.ts"
import type { BubblewrapOptions } from "./bubblewrap-options.ts"
import type { OwnFile } from "./own-files.ts"

/** Where the functions are, on the read-only root. */
export const LIBRARY = "/opt/glovebox/lib"

type FunctionOptions = Pick<BubblewrapOptions, "functions" | "functionsModule">

/** Packages are not installed here: what the functions need has to be in the tree. */
export function checkFunctions({ functions }: FunctionOptions): void {
  const packages = [...new Set(functions.flatMap(({ pythonPackages }) => pythonPackages))].toSorted()
  if (packages.length === 0) return
  throw new GloveboxError(
    "PACKAGES_FAILED",
    `The functions need ${packages.join(", ")}, and this executor installs no packages. Install them in the sandbox's tree and leave pythonPackages out, or use Docker.`,
  )
}

/** The module of the functions. */
export function functionFiles(options: FunctionOptions): OwnFile[] {
  const { functions, functionsModule: name } = options
  if (functions.length === 0) return []
  return [{ path: `${LIBRARY}/${name}.py`, content: functionsModule(functions) }]
}
