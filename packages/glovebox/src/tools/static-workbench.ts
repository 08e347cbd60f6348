import { z } from "zod"
import {
  type Component,
  type ComponentDefinition,
  type ComponentModel,
  GloveboxError,
  type JsonObject,
  type JsonValue,
  defineComponent,
} from "../core/index.ts"
import { describe } from "../internal/describe.ts"
import { formatIssues } from "../internal/format-issues.ts"
import type { ToolSchema } from "../models/index.ts"
import type { Approve } from "./approval.ts"
import { isGuarded } from "./call-guard.ts"
import { toolPart } from "./component-parts.ts"
import { type Tool, lastOf } from "./tool.ts"
import { overridesConfigSchema, overridesFromConfig } from "./tool-overrides-config.ts"
import { type ToolOverrides, checkOverrides, overrideTools, unknownToolText } from "./tool-overrides.ts"
import { type ToolResult, type ToolStreamItem, errorResult } from "./tool-result.ts"
import type { CallToolOptions, Workbench } from "./workbench.ts"

export interface StaticWorkbenchOptions {
  /** By a tool's own name: what models see instead. @default {} */
  readonly overrides?: ToolOverrides | undefined
  /** Asked for calls that need an approval; without it they are refused with TOOL_APPROVAL_REQUIRED. */
  readonly approve?: Approve | undefined
}

const schema = z.strictObject({
  overrides: z
    .record(z.string(), z.strictObject({ name: z.string().optional(), description: z.string().optional() }))
    .optional(),
  approve: z.custom<Approve>((value) => typeof value === "function", "must be a function").optional(),
})

function readOptions(options: StaticWorkbenchOptions): StaticWorkbenchOptions {
  const { data, error } = schema.safeParse(options)
  if (data) return data
  throw new GloveboxError(
    "OPTION_INVALID",
    `The workbench's options are not valid: ${formatIssues(error.issues)}.`,
  )
}

const configSchema = z.strictObject({
  tools: z.array(z.unknown()).default([]),
  tool_overrides: overridesConfigSchema.nullish(),
})

/** A workbench of tools that do not change. */
export class StaticWorkbench implements Workbench, Component {
  static readonly definition: ComponentDefinition<z.input<typeof configSchema>, StaticWorkbench> =
    defineComponent({
      provider: "glovebox.tools.StaticWorkbench",
      aliases: ["autogen_core.tools.StaticWorkbench", "autogen_core.tools.StaticStreamWorkbench"],
      type: "workbench",
      config: configSchema,
      create: ({ tools, tool_overrides }, loader) => {
        const made = tools.map((model) => toolPart.load(model, loader))
        const workbench = new StaticWorkbench(made, { overrides: overridesFromConfig(tool_overrides) })
        // Nobody else knows what was made for it alone, such as an executor behind a tool.
        workbench.#owned = made.filter(isDisposable)
        return workbench
      },
    })

  readonly #tools: ReadonlyMap<string, { readonly tool: Tool; readonly schema: ToolSchema }>
  readonly #overrides: ToolOverrides
  readonly #approve: Approve | undefined
  #owned: readonly AsyncDisposable[] = []

  constructor(tools: readonly Tool[], options: StaticWorkbenchOptions = {}) {
    const { overrides = {}, approve } = readOptions(options)
    const byName = new Map(tools.map((tool) => [tool.name, tool]))
    checkOverrides(overrides, [...byName.keys()])
    const listed = overrideTools(
      tools.map(({ schema }) => schema),
      overrides,
    )
    this.#tools = new Map(
      [...listed].flatMap(([name, { schema, original }]) => {
        const tool = byName.get(original)
        return tool ? [[name, { tool, schema }]] : []
      }),
    )
    this.#overrides = overrides
    this.#approve = approve
  }

  /** With its tools and their other names. One that asks for approvals cannot be written down: it would ask no more. */
  toComponent(): ComponentModel {
    if (this.#approve) {
      throw new GloveboxError(
        "COMPONENT_INVALID",
        "The workbench's approve is a function, which cannot be written down, and without it nobody would be asked. Pass approve with each call instead.",
      )
    }
    return StaticWorkbench.definition.dump({
      tools: [...this.#tools.values()].map(({ tool }) => toolPart.dump(tool, `Tool ${tool.name}`)),
      tool_overrides: this.#overrides,
    })
  }

  async start(): Promise<void> {}
  async stop(): Promise<void> {}
  async reset(): Promise<void> {}

  async listTools(): Promise<readonly ToolSchema[]> {
    return [...this.#tools.values()].map(({ schema }) => schema)
  }

  async callTool(name: string, args?: unknown, options: CallToolOptions = {}): Promise<ToolResult> {
    return lastOf(this.callToolStream(name, args, options))
  }

  async *callToolStream(
    name: string,
    args?: unknown,
    { signal, callId, approve = this.#approve, governor, guard }: CallToolOptions = {},
  ): AsyncGenerator<ToolStreamItem, ToolResult, undefined> {
    signal?.throwIfAborted()
    const found = this.#tools.get(name)
    if (!found) {
      const result = errorResult(name, unknownToolText(name, [...this.#tools.keys()]))
      yield result
      return result
    }
    let result: ToolResult | undefined
    for await (const item of found.tool.stream(args, { signal, callId, approve, governor, guard })) {
      // The model knows it by this name.
      const renamed = { ...item, name }
      if (renamed.type === "ToolResult") result = renamed
      yield renamed
    }
    if (result) return result
    throw new GloveboxError("TOOL_FAILED", `Tool ${name} ended without a result.`)
  }

  forgetCall(name: string, callId: string): void {
    this.#tools.get(name)?.tool.forgetCall?.(callId)
  }

  /** With a tool of its own making, of one that is not there nothing is done. */
  guardsCall(name: string): boolean {
    const found = this.#tools.get(name)
    return !found || isGuarded(found.tool)
  }

  async saveState(): Promise<JsonObject> {
    const tools = new Map<string, JsonValue>()
    for (const { tool } of this.#tools.values()) {
      const state = await tool.saveState()
      if (state !== undefined) tools.set(tool.name, state)
    }
    return { type: "StaticWorkbenchState", tools: Object.fromEntries(tools) }
  }

  async loadState(state: JsonObject): Promise<void> {
    const { type, tools } = state
    if (type !== "StaticWorkbenchState" || typeof tools !== "object" || tools === null) {
      throw new GloveboxError("STATE_INVALID", `${describe(state)} is no state of a static workbench.`)
    }
    const byName = new Map([...this.#tools.values()].map(({ tool }) => [tool.name, tool]))
    for (const [name, saved] of Object.entries(tools)) {
      const tool = byName.get(name)
      if (!tool) {
        throw new GloveboxError("STATE_INVALID", `There is a state for tool ${name}, and no such tool.`)
      }
      await tool.loadState(saved)
    }
  }

  /** Ends what was made from data for it; tools that it was given are whoever made them to end. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#owned.map(async (tool) => tool[Symbol.asyncDispose]()))
  }
}

function isDisposable(tool: Tool): tool is Tool & AsyncDisposable {
  return Symbol.asyncDispose in tool
}

/** A workbench of these tools. */
export function staticWorkbench(tools: readonly Tool[], options?: StaticWorkbenchOptions): StaticWorkbench {
  return new StaticWorkbench(tools, options)
}
