import { type Component, GloveboxError, type JsonValue } from "../core/index.ts"
import type { ToolSchema } from "../models/index.ts"
import type { ToolRisk } from "./approval.ts"
import { asGuarded } from "./call-guard.ts"
import { type RunToolOptions, streamTool } from "./stream-tool.ts"
import { dumpTool } from "./tool-component.ts"
import { type ToolOptions, readToolOptions } from "./tool-definition.ts"
import type { ToolParameters } from "./tool-parameters.ts"
import type { ToolResult, ToolStreamItem } from "./tool-result.ts"

/** Something a model can call. */
export interface Tool {
  readonly name: string
  /** As a model sees it. */
  readonly schema: ToolSchema
  readonly risk: ToolRisk
  /** Whether a call with these arguments waits for an approval; false for arguments that it refuses. */
  needsApproval(args: unknown): Promise<boolean>
  /** Calls it. Arguments that do not fit, and errors of the tool unless they are fatal, are results too. */
  run(args: unknown, options?: RunToolOptions): Promise<ToolResult>
  /** The same, with what it tells before; the result is the last item, and leaving the loop ends the call. */
  stream(args: unknown, options?: RunToolOptions): AsyncGenerator<ToolStreamItem, ToolResult, undefined>
  /** A call of it that waited for approvals will not come again: what is kept to go on with it is not needed. */
  forgetCall?(callId: string): void
  /** What it keeps, as JSON; undefined for a tool that keeps nothing. */
  saveState(): Promise<JsonValue | undefined>
  loadState(state: JsonValue): Promise<void>
}

/**
 * Makes a tool of a function.
 *
 * @example
 * const weather = tool({
 *   name: "weather",
 *   description: "Current weather in a city",
 *   parameters: z.object({ city: z.string() }),
 *   execute: ({ city }, { signal }) => fetchWeather(city, signal),
 * })
 * @throws TOOL_INVALID when a model could not be told of it
 */
export function tool<const Parameters extends ToolParameters>(
  options: ToolOptions<Parameters>,
): Tool & Component {
  const definition = readToolOptions(options)
  const { schema, risk, state } = definition
  return {
    name: schema.name,
    schema,
    risk,
    async needsApproval(args) {
      const checked = await definition.check(args ?? {})
      return checked.issues ? false : definition.needsApproval(checked.value)
    },
    run: async (args, runOptions = {}) => lastOf(streamTool(definition, args, runOptions)),
    stream: asGuarded((args: unknown, runOptions: RunToolOptions = {}) =>
      streamTool(definition, args, runOptions),
    ),
    toComponent: () => dumpTool({ name: schema.name, schema }),
    saveState: async () => state?.save(),
    async loadState(saved) {
      if (!state) {
        throw new GloveboxError(
          "STATE_INVALID",
          `There is a state for tool ${schema.name}, which keeps none. Give it \`state\`, or leave the state out.`,
        )
      }
      await state.load(saved)
    },
  }
}

/** Reads a tool's stream to its end. */
export async function lastOf(
  stream: AsyncGenerator<ToolStreamItem, ToolResult, undefined>,
): Promise<ToolResult> {
  for (;;) {
    const next = await stream.next()
    if (next.done === true) return next.value
  }
}
