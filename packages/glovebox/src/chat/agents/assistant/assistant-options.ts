import type { Governance } from "../../../governance/index.ts"
import type { ChatCompletionContext, Memory } from "../../../memory/index.ts"
import type {
  ChatCompletionClient,
  FunctionCall,
  FunctionExecutionResult,
  OutputSchema,
} from "../../../models/index.ts"
import type { Approve, Tool, Workbench } from "../../../tools/index.ts"
import type { Handoff, HandoffOptions } from "../handoff.ts"

/** Writes one call and what came of it into a summary. */
export type SummarizeCall = (call: FunctionCall, result: FunctionExecutionResult) => string

/**
 * What a call of tools leads to: the model is shown the results until it answers with words, or the results of one
 * round are the answer.
 */
export type ToolLoop = "until-text" | "single-round"

export interface AssistantAgentOptions {
  /** Letters, digits and "_". */
  readonly name: string
  readonly modelClient: ChatCompletionClient
  /** What others are told about it: teams choose speakers by it. @default a sentence */
  readonly description?: string | undefined
  /** What the model is told first; null or false for nothing. @default a few words */
  readonly systemMessage?: string | null | false | undefined
  /** Made with `tool()`. @default [] */
  readonly tools?: readonly Tool[] | undefined
  /** Workbenches beside the tools; they are listed anew for each request. @default [] */
  readonly workbench?: Workbench | readonly Workbench[] | undefined
  /** To whom it may pass the word: names, or `handoff({ ... })`. @default [] */
  readonly handoffs?: readonly (string | Handoff | HandoffOptions)[] | undefined
  /** Keeps the conversation. @default an UnboundedChatCompletionContext */
  readonly modelContext?: ChatCompletionContext | undefined
  /** Each is asked for every request; what they give is not kept in the conversation. @default [] */
  readonly memory?: readonly Memory[] | undefined
  /** Yields the model's words piece by piece. @default false */
  readonly modelClientStream?: boolean | undefined
  /** @default "until-text" */
  readonly toolLoop?: ToolLoop | undefined
  /**
   * Where tools end a turn (after the round of "single-round", or at `maxToolRounds` or `maxToolCalls`) the model puts
   * their results in words; otherwise the answer is a summary of them. @default true with outputContentType, else false
   */
  readonly reflectOnToolUse?: boolean | undefined
  /** How often the model may ask for tools in a turn. @default 20 */
  readonly maxToolRounds?: number | undefined
  /** How many calls it may make in a turn, handoffs not counted. @default 100 */
  readonly maxToolCalls?: number | undefined
  /** With so many tokens used in a turn, no more tools are called. @default no limit */
  readonly maxTokens?: number | undefined
  /** How long a turn may take: "2m", or milliseconds. What runs then is ended. @default no limit */
  readonly turnTimeout?: string | number | undefined
  /** Whether the calls of a round run at the same time. @default true */
  readonly parallelToolCalls?: boolean | undefined
  /**
   * What it is bound by: its tools and its model are behind it, and it is asked for approvals. Whoever made it closes it.
   * @default nothing
   */
  readonly governance?: Governance | undefined
  /** Asked for calls that need an approval, of workbenches too. @default the gate of governance, else nobody */
  readonly approve?: Approve | undefined
  /** A line of a summary: {toolName}, {arguments}, {result} and {isError}, or a function. @default "{result}" */
  readonly toolCallSummaryFormat?: string | SummarizeCall | undefined
  /** The answer is a StructuredMessage that fits this schema: zod's, or { name, schema } with JSON Schema. */
  readonly outputContentType?: OutputSchema | undefined
  /** How a person reads it: `{field}` stands for a field. @default JSON */
  readonly outputContentTypeFormat?: string | undefined
  /** Put on each answer. @default {} */
  readonly metadata?: Readonly<Record<string, string>> | undefined
}
