import { z } from "zod"
import { type ComponentLoader, GloveboxError, componentModelSchema } from "../../../core/index.ts"
import { contextPart, memoryPart } from "../../../memory/component-parts.ts"
import { modelClientPart } from "../../../models/model-client-part.ts"
import { milliseconds, seconds } from "../../../models/seconds.ts"
import { toolPart, workbenchPart } from "../../../tools/component-parts.ts"
import type { AssistantAgentOptions } from "./assistant-options.ts"
import type { AssistantSettings } from "./read-assistant-options.ts"

const part = componentModelSchema
const handoffSchema = z.object({
  target: z.string(),
  name: z.string().nullish(),
  description: z.string().nullish(),
  message: z.string().nullish(),
})
// AutoGen writes the type of a structured answer as a component of its own.
const outputSchema = z.object({
  provider: z.string().nullish(),
  component_type: z.string().nullish(),
  config: z.object({
    json_schema: z.record(z.string(), z.json()),
    content_model_name: z.string(),
    format_string: z.string().nullish(),
  }),
})

/** An agent's configuration as data, in AutoGen's names where it has the field. */
export const assistantConfigSchema = z.object({
  name: z.string(),
  model_client: part,
  tools: z.array(part).nullish(),
  workbench: z.union([z.array(part), part]).nullish(),
  handoffs: z.array(z.union([z.string(), handoffSchema])).nullish(),
  model_context: part.nullish(),
  memory: z.array(part).nullish(),
  description: z.string().nullish(),
  /** Null is no system message. */
  system_message: z.string().nullish(),
  model_client_stream: z.boolean().nullish(),
  reflect_on_tool_use: z.boolean().nullish(),
  tool_call_summary_format: z.string().nullish(),
  /** Absent in AutoGen's data, where one iteration is a single round. */
  tool_loop: z.enum(["until-text", "single-round"]).nullish(),
  max_tool_iterations: z.int().positive().nullish(),
  max_tool_calls: z.int().positive().nullish(),
  max_tokens: z.int().positive().nullish(),
  /** Seconds. */
  turn_timeout: z.number().positive().nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  structured_message_factory: outputSchema.nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
})

export type AssistantConfig = z.input<typeof assistantConfigSchema>

/** The options that a configuration stands for. */
export function optionsFromConfig(config: AssistantConfig, loader: ComponentLoader): AssistantAgentOptions {
  const { workbench: given, max_tool_iterations: rounds, structured_message_factory: output } = config
  const workbenches = given ? (Array.isArray(given) ? given : [given]) : []
  return {
    name: config.name,
    modelClient: modelClientPart.load(config.model_client, loader),
    tools: config.tools?.map((tool) => toolPart.load(tool, loader)),
    workbench: workbenches.map((workbench) => workbenchPart.load(workbench, loader)),
    handoffs: config.handoffs?.map((handoff) =>
      typeof handoff === "string" ? handoff : withoutNulls(handoff),
    ),
    modelContext: config.model_context ? contextPart.load(config.model_context, loader) : undefined,
    memory: config.memory?.map((memory) => memoryPart.load(memory, loader)),
    description: config.description ?? undefined,
    systemMessage: config.system_message,
    modelClientStream: config.model_client_stream ?? undefined,
    reflectOnToolUse: config.reflect_on_tool_use ?? undefined,
    toolCallSummaryFormat: config.tool_call_summary_format ?? undefined,
    toolLoop: config.tool_loop ?? (rounds === 1 ? "single-round" : undefined),
    maxToolRounds: rounds ?? undefined,
    maxToolCalls: config.max_tool_calls ?? undefined,
    maxTokens: config.max_tokens ?? undefined,
    turnTimeout: milliseconds(config.turn_timeout),
    parallelToolCalls: config.parallel_tool_calls ?? undefined,
    outputContentType: output
      ? { name: output.config.content_model_name, schema: output.config.json_schema }
      : undefined,
    outputContentTypeFormat: output?.config.format_string ?? undefined,
    metadata: config.metadata ?? undefined,
  }
}

/** The configuration of an agent; COMPONENT_INVALID names the option that cannot be written down. */
export function configFromSettings(settings: AssistantSettings): AssistantConfig {
  const { name, tools, workbenches, memory, modelContext, toolCallSummaryFormat, output } = settings
  if (settings.governor) {
    throw new GloveboxError(
      "COMPONENT_INVALID",
      `governance of ${name} has a log and people to ask, which data cannot hold, and without it nobody would be asked. Make such an agent in the program.`,
    )
  }
  if (settings.approve) throw notData(name, "approve")
  if (typeof toolCallSummaryFormat !== "string") throw notData(name, "toolCallSummaryFormat")
  return {
    name,
    description: settings.description,
    model_client: modelClientPart.dump(settings.modelClient, `modelClient of ${name}`),
    tools: tools.map((tool) => toolPart.dump(tool, `${tool.name} in tools of ${name}`)),
    workbench: workbenches.map((each, index) => workbenchPart.dump(each, `workbench[${index}] of ${name}`)),
    handoffs: [...settings.handoffs.values()],
    model_context: contextPart.dump(modelContext, `modelContext of ${name}`),
    memory: memory.map((each, index) => memoryPart.dump(each, `memory[${index}] of ${name}`)),
    system_message: settings.systemMessage ?? null,
    model_client_stream: settings.modelClientStream,
    reflect_on_tool_use: settings.reflectOnToolUse,
    tool_call_summary_format: toolCallSummaryFormat,
    tool_loop: settings.toolLoop,
    max_tool_iterations: settings.maxToolRounds,
    max_tool_calls: settings.maxToolCalls,
    max_tokens: settings.maxTokens,
    turn_timeout: seconds(settings.turnTimeout),
    parallel_tool_calls: settings.parallelToolCalls,
    structured_message_factory: output && {
      provider: "glovebox.messages.StructuredMessageFactory",
      component_type: "structured_message",
      config: {
        json_schema: output.format.schema as Record<string, z.core.util.JSONType>,
        content_model_name: output.format.name,
        format_string: output.formatString,
      },
    },
    metadata: settings.metadata,
  }
}

function withoutNulls(handoff: z.output<typeof handoffSchema>): { readonly target: string } {
  return {
    ...Object.fromEntries(Object.entries(handoff).filter(([, value]) => value !== null)),
    target: handoff.target,
  }
}

function notData(name: string, option: string): GloveboxError {
  return new GloveboxError(
    "COMPONENT_INVALID",
    `${option} of ${name} is a function, which data cannot hold. Make such an agent in the program.`,
  )
}
