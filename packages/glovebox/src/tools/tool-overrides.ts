import { GloveboxError } from "../core/index.ts"
import { nearest } from "../internal/nearest.ts"
import type { ToolSchema } from "../models/index.ts"
import { checkToolName } from "./tool-definition.ts"
import type { ToolOverride } from "./workbench.ts"

export type ToolOverrides = Readonly<Record<string, ToolOverride>>

/** The schemas by the names that models are told; TOOL_INVALID when two tools would have one name. */
export function overrideTools(
  schemas: readonly ToolSchema[],
  overrides: ToolOverrides,
): ReadonlyMap<string, { readonly schema: ToolSchema; readonly original: string }> {
  const listed = new Map<string, { schema: ToolSchema; original: string }>()
  for (const schema of schemas) {
    const override = Object.hasOwn(overrides, schema.name) ? overrides[schema.name] : undefined
    const name = override?.name ?? schema.name
    if (override?.name !== undefined) checkToolName(override.name)
    const taken = listed.get(name)
    if (taken) {
      throw new GloveboxError(
        "TOOL_INVALID",
        `Two tools would be called ${name}: ${taken.original} and ${schema.name}. Give one of them another name.`,
      )
    }
    const description = override?.description ?? schema.description
    listed.set(name, { schema: { ...schema, name, description }, original: schema.name })
  }
  return listed
}

/** Refuses an override for a tool that there is not. */
export function checkOverrides(overrides: ToolOverrides, names: readonly string[]): void {
  const unknown = Object.keys(overrides).find((name) => !names.includes(name))
  if (unknown === undefined) return
  throw new GloveboxError(
    "TOOL_INVALID",
    `There is an override for ${unknown}, and no such tool.${didYouMean(unknown, names)}`,
  )
}

/** What to tell a model that called a tool which there is not. */
export function unknownToolText(name: string, names: readonly string[]): string {
  const known = names.length === 0 ? "There are none" : `Tools: ${names.join(", ")}`
  return `There is no tool ${JSON.stringify(name)}.${didYouMean(name, names)} ${known}.`
}

function didYouMean(name: string, names: readonly string[]): string {
  const near = nearest(name, names)
  return near === undefined ? "" : ` Did you mean ${near}?`
}
