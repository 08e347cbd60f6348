import { GloveboxError } from "../../core/index.ts"
import { describe } from "../../internal/describe.ts"

const NAME = /^[\p{L}_][\p{L}\p{N}_]*$/u

/** A name that models can use: they see it as who speaks, and choose speakers by it. */
export function checkAgentName(name: string): string {
  // As the name of a field it would be lost from every state.
  if (typeof name === "string" && NAME.test(name) && name !== "__proto__") return name
  throw new GloveboxError(
    "AGENT_INVALID",
    `${describe(name)} is no name for an agent. Use letters, digits and "_", and begin with a letter.`,
  )
}
