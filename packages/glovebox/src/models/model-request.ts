import { z } from "zod"
import { GloveboxError, type JsonObject } from "../core/index.ts"
import { describe } from "../internal/describe.ts"
import { formatIssues } from "../internal/format-issues.ts"
import type { CreateOptions } from "./chat-completion-client.ts"
import { type LLMMessage, llmMessageSchema } from "./messages.ts"
import type { ModelInfo } from "./model-info.ts"
import { type OutputFormat, readOutputFormat } from "./output-format.ts"
import { mergeSystemMessages } from "./system-messages.ts"
import type { ToolChoice, ToolSchema } from "./tool-schema.ts"

/** A request that has been checked against what the model can do. */
export interface ModelRequest {
  readonly messages: readonly LLMMessage[]
  readonly tools: readonly ToolSchema[]
  readonly toolChoice: ToolChoice
  readonly output: OutputFormat | undefined
  /** Fields in the provider's own names. */
  readonly extra: JsonObject
}

const messagesSchema = z.array(llmMessageSchema).min(1)

/** The names that all providers take. */
const TOOL_NAME = /^[\w-]{1,64}$/

const toolSchema = z.object({
  name: z.string().regex(TOOL_NAME, 'use letters, digits, "_" and "-", at most 64'),
  description: z.string().optional(),
  parameters: z.record(z.string(), z.unknown()).optional(),
  strict: z.boolean().optional(),
})

/** Checks a request before anything is sent. */
export function readRequest(
  messages: readonly LLMMessage[],
  options: CreateOptions,
  info: ModelInfo,
): ModelRequest {
  const { error } = messagesSchema.safeParse(messages)
  if (error) throw invalid(`The messages are not valid: ${formatIssues(error.issues)}`)
  const tools = readTools(options.tools ?? [])
  const request = {
    // A list of its own: the caller's may grow while the request is tried again.
    messages: info.multipleSystemMessages === true ? [...messages] : mergeSystemMessages(messages),
    tools,
    toolChoice: readToolChoice(options.toolChoice ?? "auto", tools),
    output: readOutputFormat(options.jsonOutput),
    extra: readExtra(options.extraCreateArgs),
  }
  checkAbilities(request, info)
  return request
}

/** The schemas of tools, each name once. */
export function readTools(tools: NonNullable<CreateOptions["tools"]>): ToolSchema[] {
  const names = new Set<string>()
  return tools.map((tool) => {
    // A check as well, because callers in JavaScript pass anything.
    const given: unknown = typeof tool === "object" && tool !== null && "schema" in tool ? tool.schema : tool
    const { data, error } = toolSchema.safeParse(given)
    if (error) throw invalid(`The tool ${nameOf(given)} is not valid: ${formatIssues(error.issues)}`)
    if (names.has(data.name))
      throw invalid(`Two tools are called "${data.name}". Give each a name of its own.`)
    names.add(data.name)
    return data
  })
}

function nameOf(tool: unknown): string {
  return describe(typeof tool === "object" && tool !== null && "name" in tool ? tool.name : tool)
}

function readToolChoice(choice: ToolChoice, tools: readonly ToolSchema[]): ToolChoice {
  if (choice === "auto" || choice === "none") return choice
  const names = tools.map(({ name }) => name)
  if (choice === "required") {
    if (names.length === 0) throw invalid("toolChoice is required, but there are no tools.")
    return choice
  }
  const name: unknown = typeof choice === "object" && choice !== null ? choice.name : undefined
  if (typeof name === "string" && names.includes(name)) return { name }
  throw invalid(
    `toolChoice is ${describe(name ?? choice)}. Use "auto", "required", "none" or one of the tools: ${names.join(", ") || "none"}.`,
  )
}

function readExtra(extra: JsonObject = {}): JsonObject {
  if (typeof extra === "object" && extra !== null && !Array.isArray(extra)) return extra
  throw invalid(`extraCreateArgs is ${describe(extra)}. Pass an object with fields of the request.`)
}

function checkAbilities({ messages, tools, output }: ModelRequest, info: ModelInfo): void {
  if (!info.vision && messages.some(hasImage)) throw unable("take images", "vision")
  if (!info.functionCalling && tools.length > 0) throw unable("call tools", "functionCalling")
  if (!info.jsonOutput && output?.type === "json") throw unable("be told to answer in JSON", "jsonOutput")
  if (!info.structuredOutput && output?.type === "schema")
    throw unable("keep to a schema", "structuredOutput")
}

function hasImage(message: LLMMessage): boolean {
  return (
    message.type === "UserMessage" &&
    typeof message.content !== "string" &&
    message.content.some((part) => typeof part !== "string")
  )
}

function unable(what: string, ability: keyof ModelInfo): GloveboxError {
  return invalid(`This model cannot ${what}: its modelInfo has ${ability}: false.`)
}

function invalid(message: string): GloveboxError {
  return new GloveboxError("MODEL_REQUEST_INVALID", message)
}
