import type { StandardSchemaV1 } from "@standard-schema/spec"
import { z } from "zod"
import { type Component, type ComponentModel, GloveboxError, type JsonObject } from "../../core/index.ts"
import { abortable } from "../../internal/abortable.ts"
import { AsyncQueue } from "../../internal/async-queue.ts"
import { describe } from "../../internal/describe.ts"
import type { ToolSchema } from "../../models/index.ts"
import type {
  CallToolOptions,
  ToolContext,
  ToolOverrides,
  ToolResult,
  ToolStreamItem,
  Workbench,
} from "../index.ts"
import { authorizeTool, streamTool } from "../stream-tool.ts"
import { TOOL_NAME } from "../tool-definition.ts"
import { checkOverrides, overrideTools, unknownToolText } from "../tool-overrides.ts"
import { errorResult } from "../tool-result.ts"
import { lastOf } from "../tool.ts"
import {
  type McpComponentOptions,
  type McpWorkbenchDefinition,
  configFromOptions,
  defineMcpWorkbench,
} from "./mcp-component.ts"
import { McpConnection, type McpResult, type McpTool } from "./mcp-connection.ts"
import { contentsOf } from "./mcp-content.ts"
import { describeServer } from "./mcp-server-params.ts"
import { type McpWorkbenchOptions, type ReadMcpOptions, readMcpOptions } from "./mcp-workbench-options.ts"
import { PinnedTools, type ToolPins } from "./tool-pins.ts"

interface Listed {
  readonly schema: ToolSchema
  readonly tool: McpTool
}

interface Running {
  readonly connection: McpConnection
  /** What the server says it has; undefined once it says that it is other now. */
  tools: ReadonlyMap<string, Listed> | undefined
  /** Counts how often it has said so. */
  version: number
}

const MOST_PROGRESS = 1_000
const LONGEST_PROGRESS = 10_000

const stateSchema = z.object({
  type: z.literal("McpWorkbenchState"),
  pins: z.record(z.string(), z.string()),
})

/**
 * The tools of an MCP server. The first use starts it; when it ends by itself, the next use starts it anew. Each tool is
 * pinned when it is first seen: one that changes later is an error, and models are not told of it.
 */
export class McpWorkbench implements Workbench, Component {
  /** Of servers with an address alone: data does not start programs. `mcpWorkbenchComponent` lets it. */
  static readonly definition: McpWorkbenchDefinition = defineMcpWorkbench(
    (options) => new McpWorkbench(options),
  )

  readonly #options: ReadMcpOptions
  readonly #pinned: PinnedTools
  #running: Promise<Running> | undefined
  #ended = new AbortController()
  #isStopped = false

  constructor(options: McpWorkbenchOptions) {
    this.#options = readMcpOptions(options)
    this.#pinned = new PinnedTools(describeServer(this.#options.server), this.#options.pins)
  }

  /** With the tools as they are pinned, and no secret: variables go by their names. */
  toComponent(): ComponentModel {
    return McpWorkbench.definition.dump(configFromOptions(this.#options, this.#pinned.kept))
  }

  /** The tools as they are now, to be kept and passed as `pins`. */
  async pins(options: { readonly signal?: AbortSignal | undefined } = {}): Promise<ToolPins> {
    await this.listTools(options)
    return this.#pinned.pins
  }

  async start({ signal }: { readonly signal?: AbortSignal | undefined } = {}): Promise<void> {
    this.#isStopped = false
    await this.#tools(signal)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#ended.abort(stopped())
    this.#ended = new AbortController()
    const running = this.#running
    this.#running = undefined
    await (await running?.catch(() => undefined))?.connection.close()
  }

  async reset(): Promise<void> {
    await this.stop()
    await this.start()
  }

  async listTools({ signal }: { readonly signal?: AbortSignal | undefined } = {}): Promise<
    readonly ToolSchema[]
  > {
    const { tools } = await this.#tools(signal)
    return [...tools.values()].map(({ schema }) => schema)
  }

  async callTool(name: string, args?: unknown, options: CallToolOptions = {}): Promise<ToolResult> {
    return lastOf(this.callToolStream(name, args, options))
  }

  async *callToolStream(
    name: string,
    args?: unknown,
    { signal, callId, approve = this.#options.approve, guard }: CallToolOptions = {},
  ): AsyncGenerator<ToolStreamItem, ToolResult, undefined> {
    // A stop ends the call as its own signal does.
    const ended = signal ? AbortSignal.any([signal, this.#ended.signal]) : this.#ended.signal
    ended.throwIfAborted()
    // Before its server is started.
    await authorizeTool(name, ended)
    const found = await this.#find(name, ended)
    if ("result" in found) {
      yield found.result
      return found.result
    }
    const { connection, schema, tool } = found
    const { needsApproval, risk, errorChoice } = this.#options
    return yield* streamTool(
      {
        schema,
        // The server checks them itself, by rules that a schema need not tell.
        check: async (value) => objectOrIssue(value),
        execute: (given, context) => this.#call(connection, tool, given as Record<string, unknown>, context),
        needsApproval: (given) => needsApproval({ tool: tool.name, arguments: given }),
        risk,
        errorChoice,
        state: undefined,
      },
      args,
      { signal: ended, callId, approve, guard },
      true,
    )
  }

  /** Of all its tools. */
  guardsCall(): boolean {
    return true
  }

  /** The pins: what a server keeps besides, it keeps itself. */
  async saveState(): Promise<JsonObject> {
    return { type: "McpWorkbenchState", pins: this.#pinned.pins }
  }

  async loadState(state: JsonObject): Promise<void> {
    const { data } = stateSchema.safeParse(state)
    if (!data) throw new GloveboxError("STATE_INVALID", `${describe(state)} is no state of an MCP workbench.`)
    this.#pinned.replace(data.pins)
    const running = await this.#running?.catch(() => undefined)
    if (!running) return
    running.version += 1
    running.tools = undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  async *#call(
    connection: McpConnection,
    tool: McpTool,
    args: Record<string, unknown>,
    { signal }: ToolContext,
  ): AsyncGenerator<string, ToolResult, undefined> {
    const progress = new AsyncQueue<string>({ limit: Number.POSITIVE_INFINITY })
    const { timeoutMs, totalTimeoutMs } = this.#options
    // Only signs of life: a flood of them is not worth keeping.
    const onProgress = (message: string): void => {
      if (progress.weight < MOST_PROGRESS) progress.push(message.slice(0, LONGEST_PROGRESS))
    }
    const answer = connection.callTool(tool, args, { signal, timeoutMs, totalTimeoutMs, onProgress })
    answer.then(
      () => progress.close(),
      () => progress.close(),
    )
    yield* progress
    return toResult(tool.name, await answer)
  }

  async #find(
    name: string,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly result: ToolResult } | (Listed & { readonly connection: McpConnection })> {
    try {
      const { connection, tools } = await this.#tools(signal)
      const listed = tools.get(name)
      if (listed) return { ...listed, connection }
      return { result: errorResult(name, unknownToolText(name, [...tools.keys()])) }
    } catch (error) {
      const isForModel =
        GloveboxError.is(error, "MCP_SERVER_FAILED") &&
        !this.#isStopped &&
        this.#options.errorChoice(error) === "result"
      if (!isForModel) throw error
      return { result: errorResult(name, error.message) }
    }
  }

  /** The tools of the server, which is started when it is not there. */
  async #tools(
    signal: AbortSignal | undefined,
  ): Promise<{ readonly connection: McpConnection; readonly tools: ReadonlyMap<string, Listed> }> {
    signal?.throwIfAborted()
    if (this.#isStopped) throw stopped()
    const ended = this.#ended.signal
    const both = signal ? AbortSignal.any([signal, ended]) : ended
    const running = await abortable(this.#connect(), both)
    const tools = running.tools ?? (await abortable(this.#list(running), both))
    return { connection: running.connection, tools }
  }

  async #list(running: Running): Promise<ReadonlyMap<string, Listed>> {
    const { timeoutMs, overrides } = this.#options
    const { version } = running
    const offered = this.#check(running, await running.connection.listTools(this.#ended.signal, timeoutMs))
    checkOverrides(
      overrides,
      offered.map(({ name }) => name),
    )
    const byName = new Map(offered.map((tool) => [tool.name, tool]))
    const tools = new Map<string, Listed>()
    for (const [name, { schema, original }] of overrideTools(
      offered.map(toSchema),
      namesFor(offered, overrides),
    )) {
      const tool = byName.get(original)
      if (tool) tools.set(name, { schema, tool })
    }
    // Said to be other meanwhile, it is to be asked again.
    if (running.version === version) running.tools = tools
    return tools
  }

  // A schema can be nested deeper than anything can read.
  #check({ connection }: Running, tools: readonly McpTool[]): readonly McpTool[] {
    try {
      return this.#pinned.check(tools)
    } catch (error) {
      throw GloveboxError.is(error) ? error : connection.failure("lists tools that cannot be read", error)
    }
  }

  #connect(): Promise<Running> {
    this.#running ??= this.#open()
    return this.#running
  }

  #open(): Promise<Running> {
    const { server: params, startTimeoutMs } = this.#options
    let running: Running | undefined
    const forget = (): void => {
      if (this.#running === opened) this.#running = undefined
    }
    const opened = McpConnection.open({
      params,
      startTimeoutMs,
      signal: this.#ended.signal,
      onLost: forget,
      onToolsChanged: () => {
        if (!running) return
        running.version += 1
        running.tools = undefined
      },
    }).then((connection) => {
      running = { connection, version: 0, tools: undefined }
      return running
    })
    opened.catch(forget)
    return opened
  }
}

/**
 * Lets a registry make MCP workbenches from data with the servers that the program allows, also ones that are started.
 *
 * @example
 * const allowServer = (server: McpServerParams) => "command" in server && server.command === "my-server"
 * const registry = defaultRegistry({ mcp: { allowServer } })
 */
export function mcpWorkbenchComponent(options: McpComponentOptions): McpWorkbenchDefinition {
  return defineMcpWorkbench((read) => new McpWorkbench(read), options)
}

function toSchema({ name, description, inputSchema }: McpTool): ToolSchema {
  return { name, description, parameters: inputSchema }
}

/** The overrides, and a name for each tool whose own no provider takes. */
function namesFor(tools: readonly McpTool[], overrides: ToolOverrides): ToolOverrides {
  const renamed = tools
    .filter(({ name }) => !TOOL_NAME.test(name))
    .map(({ name }) => [
      name,
      { name: name.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 64), ...overrides[name] },
    ])
  return { ...overrides, ...(Object.fromEntries(renamed) as ToolOverrides) }
}

function toResult(name: string, answer: McpResult): ToolResult {
  return { type: "ToolResult", name, result: contentsOf(answer), isError: answer.isError === true }
}

function objectOrIssue(value: unknown): StandardSchemaV1.Result<unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { value }
  return { issues: [{ message: `they are ${describe(value)}, and must be an object` }] }
}

function stopped(): GloveboxError {
  return new GloveboxError(
    "MCP_SERVER_FAILED",
    "The MCP workbench was stopped. Call start() to use it again.",
  )
}
