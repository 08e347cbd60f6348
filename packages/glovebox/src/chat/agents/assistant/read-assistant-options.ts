import { z } from "zod"
import { GloveboxError } from "../../../core/index.ts"
import { readOptions } from "../../../core/read-options.ts"
import { describe } from "../../../internal/describe.ts"
import type { Governance, Governor } from "../../../governance/index.ts"
import {
  type ChatCompletionContext,
  type Memory,
  UnboundedChatCompletionContext,
} from "../../../memory/index.ts"
import type { ChatCompletionClient, OutputSchema } from "../../../models/index.ts"
import { duration } from "../../../policy/amount-schema.ts"
import { type Approve, type Tool, type Workbench, StaticWorkbench } from "../../../tools/index.ts"
import { type Handoff, type HandoffOptions, handoff } from "../handoff.ts"
import type { AssistantAgentOptions, SummarizeCall, ToolLoop } from "./assistant-options.ts"
import type { Authorize } from "./call-tool.ts"
import { OutputReader } from "./output-reader.ts"

const SYSTEM_MESSAGE =
  "You solve tasks. Use your tools where they help. Say what you found and did, and what you could not do."
const DESCRIPTION = "An agent that answers with a model's words and can use tools."
// The longest that a timer can wait.
const LONGEST_MS = 2 ** 31 - 1

/** An agent's options, checked, with their defaults. */
export interface AssistantSettings {
  readonly name: string
  readonly description: string
  readonly modelClient: ChatCompletionClient
  readonly systemMessage: string | undefined
  readonly tools: readonly Tool[]
  /** Of the tools. */
  readonly toolbox: Workbench
  readonly workbenches: readonly Workbench[]
  readonly handoffs: ReadonlyMap<string, Handoff>
  readonly modelContext: ChatCompletionContext
  readonly memory: readonly Memory[]
  readonly modelClientStream: boolean
  readonly toolLoop: ToolLoop
  readonly reflectOnToolUse: boolean
  readonly maxToolRounds: number
  readonly maxToolCalls: number
  readonly maxTokens?: number | undefined
  readonly turnTimeout?: number | undefined
  readonly parallelToolCalls: boolean
  /** What its governance has for it. */
  readonly governor: Governor | undefined
  readonly approve?: Approve | undefined
  readonly authorize: Authorize | undefined
  readonly toolCallSummaryFormat: string | SummarizeCall
  readonly output: OutputReader | undefined
  readonly metadata: Readonly<Record<string, string>>
}

function having<T>(what: string, ...methods: readonly string[]): z.ZodType<T, T> {
  const fits = (value: unknown): boolean =>
    typeof value === "object" &&
    value !== null &&
    methods.every((name) => typeof (value as Readonly<Record<string, unknown>>)[name] === "function")
  return z.custom<T>(fits, { error: ({ input }) => `${describe(input)} is no ${what}` })
}

function functionOf<T extends (...args: never) => unknown>(): z.ZodType<T, T> {
  return z.custom<T>((value) => typeof value === "function", "must be a function")
}

const aTool = z.custom<Tool>(
  (value) =>
    typeof value === "object" && value !== null && "schema" in value && "stream" in value && "name" in value,
  {
    error: ({ input }) => `${describe(input)} is no tool. Make one with tool({ name, description, execute })`,
  },
)
const aWorkbench = having<Workbench>("workbench", "listTools", "callToolStream")
const aHandoff = z.union([
  z.string(),
  z.custom<Handoff | HandoffOptions>((value) => typeof value === "object" && value !== null),
])
const count = z.int().positive()

const schema = z.strictObject({
  name: z.string(),
  modelClient: having<ChatCompletionClient>("model client", "create", "createStream"),
  description: z.string().default(DESCRIPTION),
  systemMessage: z.union([z.string(), z.null(), z.literal(false)]).default(SYSTEM_MESSAGE),
  tools: z.array(aTool).default([]),
  workbench: z.union([z.array(aWorkbench), aWorkbench.transform((one) => [one])]).default([]),
  handoffs: z.array(aHandoff).default([]),
  modelContext: having<ChatCompletionContext>("model context", "addMessage", "getMessages").optional(),
  memory: z.array(having<Memory>("memory", "updateContext")).default([]),
  modelClientStream: z.boolean().default(false),
  toolLoop: z.enum(["until-text", "single-round"]).default("until-text"),
  reflectOnToolUse: z.boolean().optional(),
  maxToolRounds: count.default(20),
  maxToolCalls: count.default(100),
  maxTokens: count.optional(),
  turnTimeout: duration(1, LONGEST_MS).optional(),
  parallelToolCalls: z.boolean().default(true),
  governance: having<Governance>("Governance", "agent", "record").optional(),
  approve: functionOf<Approve>().optional(),
  toolCallSummaryFormat: z.union([z.string(), functionOf<SummarizeCall>()]).default("{result}"),
  outputContentType: z.custom<OutputSchema>().optional(),
  outputContentTypeFormat: z.string().optional(),
  metadata: z.record(z.string(), z.string()).default({}),
})

const OTHER_NAMES = {
  maxToolIterations: "maxToolRounds, or toolLoop",
  max_tool_iterations: "maxToolRounds, or toolLoop",
  tool_call_summary_formatter: "toolCallSummaryFormat",
  toolCallSummaryFormatter: "toolCallSummaryFormat",
  workbenches: "workbench",
}

/** Checks the options of an agent. */
export function readAssistantOptions(options: AssistantAgentOptions): AssistantSettings {
  const read = readOptions("AssistantAgent", schema, options, { otherNames: OTHER_NAMES })
  const { modelClient, tools, workbench, outputContentType, outputContentTypeFormat: format } = read
  const handoffs = readHandoffs(read.handoffs, tools)
  if (!modelClient.modelInfo.functionCalling && tools.length + workbench.length + handoffs.size > 0) {
    throw invalid(
      `${read.name} has tools, workbenches or handoffs, and its model calls none: its modelInfo has functionCalling: false. Leave them out, or use another model.`,
    )
  }
  if (outputContentType === undefined && format !== undefined) {
    throw invalid("outputContentTypeFormat is for answers of outputContentType, which is missing.")
  }
  if (outputContentType !== undefined && !modelClient.modelInfo.structuredOutput) {
    throw invalid(
      `${read.name} has outputContentType, and its model keeps to no schema: its modelInfo has structuredOutput: false. Leave it out, or use another model.`,
    )
  }
  const { name, governance, systemMessage, modelContext = new UnboundedChatCompletionContext() } = read
  const governor = governance?.agent(name)
  const toolbox = new StaticWorkbench(tools)
  return {
    ...read,
    modelClient: governor?.client(modelClient) ?? modelClient,
    systemMessage: typeof systemMessage === "string" ? systemMessage : undefined,
    toolbox: governor?.workbench(toolbox) ?? toolbox,
    workbenches: governor ? workbench.map((each) => governor.workbench(each)) : workbench,
    governor,
    approve: read.approve && (governor?.recorded(read.approve) ?? read.approve),
    authorize: authorizeOf(name, governance),
    handoffs,
    modelContext,
    reflectOnToolUse: read.reflectOnToolUse ?? outputContentType !== undefined,
    output: outputContentType && new OutputReader(outputContentType, format),
  }
}

function authorizeOf(agent: string, governance: Governance | undefined): Authorize | undefined {
  const access = governance?.access
  return access && (async (name, options) => access.authorize({ agent, kind: "tool", name }, options))
}

function readHandoffs(
  given: readonly (string | Handoff | HandoffOptions)[],
  tools: readonly Tool[],
): ReadonlyMap<string, Handoff> {
  const handoffs = new Map<string, Handoff>()
  for (const each of given) {
    const made = handoff(typeof each === "string" ? { target: each } : each)
    const { name, target } = made
    if (handoffs.has(name)) throw invalid(`Two handoffs are called ${name}. Give each a name of its own.`)
    if (tools.some((tool) => tool.name === name)) {
      throw invalid(
        `A tool is called ${name}, as is the handoff to ${target}. Give one of them another name.`,
      )
    }
    handoffs.set(name, made)
  }
  return handoffs
}

function invalid(message: string): GloveboxError {
  return new GloveboxError("OPTION_INVALID", message)
}
