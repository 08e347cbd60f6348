import { z } from "zod"
import {
  type ComponentDefinition,
  type ComponentModel,
  GloveboxError,
  defineComponent,
} from "../core/index.ts"
import { describe } from "../internal/describe.ts"
import { nearest } from "../internal/nearest.ts"
import { toolPart } from "./component-parts.ts"
import type { Tool } from "./tool.ts"
import { checkToolName } from "./tool-definition.ts"

const PROVIDER = "glovebox.tools.FunctionTool"

// AutoGen writes the source text of the function too; it is not read.
const configSchema = z.object({ name: z.string() })

/**
 * A function tool in a component's data is its name alone: a function is neither written down nor made from text. It is
 * found among the tools that the program has added to the registry with `toolComponent`.
 */
export const functionToolComponent: ComponentDefinition<z.input<typeof configSchema>, Tool> = defineComponent(
  {
    provider: PROVIDER,
    aliases: ["autogen_core.tools.FunctionTool"],
    type: "tool",
    config: configSchema,
    create: ({ name }, loader) => {
      const known = loader.providers.filter((provider) => provider.startsWith(`${PROVIDER}/`))
      if (known.includes(providerOf(name)))
        return toolPart.load({ provider: providerOf(name), config: {} }, loader)
      const names = known.map((provider) => provider.slice(PROVIDER.length + 1))
      const near = nearest(name, names)
      throw new GloveboxError(
        "COMPONENT_UNKNOWN",
        `No tool ${describe(name)} is registered.${near === undefined ? "" : ` Did you mean "${near}"?`} ` +
          `Known: ${names.join(", ") || "none"}. Functions are not made from data: add yours with registry.add(toolComponent(tool)).`,
      )
    },
  },
)

/**
 * Lets a registry find a tool by its name.
 *
 * @example
 * const registry = defaultRegistry().add(toolComponent(weather))
 * registry.load(json) // an agent that has "weather"
 */
export function toolComponent(tool: Tool): ComponentDefinition<Record<string, never>, Tool> {
  checkToolName(tool.name)
  return defineComponent({
    provider: providerOf(tool.name),
    type: "tool",
    config: z.strictObject({}),
    create: () => tool,
  })
}

/** A function tool in data. */
export function dumpTool({ name, schema }: Pick<Tool, "name" | "schema">): ComponentModel {
  return functionToolComponent.dump(
    { name },
    schema.description === undefined ? {} : { description: schema.description },
  )
}

function providerOf(name: string): string {
  return `${PROVIDER}/${name}`
}
