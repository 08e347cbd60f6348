import { z } from "zod"
import { GloveboxError } from "../core/index.ts"
import type { ToolRisk } from "./approval.ts"
import type { ErrorChoice } from "./tool-definition.ts"

/** Who is asked before a call, and what becomes of its errors, in a component's data. */
export const choicesConfigShape = {
  approval: z.boolean().nullish(),
  risk: z.enum(["low", "medium", "high"]).nullish(),
  errors: z.enum(["result", "fatal"]).nullish(),
}

type Config = z.output<z.ZodObject<typeof choicesConfigShape>>

interface Choices {
  readonly approval?: unknown
  readonly risk?: ToolRisk | undefined
  readonly errors?: unknown
}

export function choicesFromConfig({ approval, risk, errors }: Config): {
  readonly approval: boolean | undefined
  readonly risk: ToolRisk | undefined
  readonly errors: ErrorChoice | undefined
} {
  return { approval: approval ?? undefined, risk: risk ?? undefined, errors: errors ?? undefined }
}

/** COMPONENT_INVALID for a choice that a function makes. */
export function choicesToConfig(what: string, { approval, risk, errors }: Choices): Config {
  refuseFunctions(what, { approval, errors })
  return { approval: approval as boolean | undefined, risk, errors: errors as ErrorChoice | undefined }
}

/** COMPONENT_INVALID for options that are functions, by their names. */
export function refuseFunctions(what: string, options: Readonly<Record<string, unknown>>): void {
  const found = Object.keys(options).filter((name) => typeof options[name] === "function")
  if (found.length === 0) return
  throw new GloveboxError(
    "COMPONENT_INVALID",
    `${what} cannot be written down: ${found.join(", ")} is a function, which data cannot hold. Leave it out, or make this one in code.`,
  )
}
