import { GloveboxError } from "../../core/index.ts"
import { describe } from "../../internal/describe.ts"

const WORD = "[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
const SPECIFIER = String.raw`(?:===|==|~=|!=|<=|>=|<|>) ?[A-Za-z0-9][A-Za-z0-9.!+_-]*(?:\.\*)?`
const REQUIREMENT = new RegExp(
  `^${WORD} ?(?:\\[${WORD}(?:, ?${WORD})*\\])? ?(?:${SPECIFIER}(?: ?, ?${SPECIFIER})*)?$`,
)
// What ends so is a file to pip, if there is one of that name where it runs.
const ARCHIVE = /\.(?:zip|whl|tar|tgz|tbz2?|txz|tlz|gz|bz2|xz|lz|lzma)$/i
const MAX_LENGTH = 200

/** A package as pip names it, with extras and versions, without spaces; FUNCTION_INVALID for any other argument. */
export function pythonPackage(requirement: string): string {
  const usable =
    typeof requirement === "string" &&
    requirement.length <= MAX_LENGTH &&
    !requirement.endsWith(" ") &&
    REQUIREMENT.test(requirement) &&
    !ARCHIVE.test(requirement)
  if (usable) return requirement.replaceAll(" ", "")
  throw new GloveboxError(
    "FUNCTION_INVALID",
    `The Python package ${describe(requirement)} is refused. Pass a name, with extras and versions if needed, such as "pandas[excel]>=2,<3": no options, addresses, paths or markers.`,
  )
}
