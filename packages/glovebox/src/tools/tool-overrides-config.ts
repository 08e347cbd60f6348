import { z } from "zod"
import type { ToolOverrides } from "./tool-overrides.ts"

/** Other names and descriptions in a component's data. */
export const overridesConfigSchema = z.record(
  z.string(),
  z.strictObject({ name: z.string().nullish(), description: z.string().nullish() }),
)

export function overridesFromConfig(
  config: z.output<typeof overridesConfigSchema> | null | undefined,
): ToolOverrides | undefined {
  if (!config) return undefined
  return Object.fromEntries(
    Object.entries(config).map(([tool, { name, description }]) => [
      tool,
      { name: name ?? undefined, description: description ?? undefined },
    ]),
  )
}
