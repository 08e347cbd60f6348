import { z } from "zod"
import { GloveboxError } from "../../../core/index.ts"
import { readOptions } from "../../../core/read-options.ts"
import type { CodeExecutor } from "../../../executors/index.ts"
import type { Governance } from "../../../governance/index.ts"
import type { ChatCompletionContext } from "../../../memory/index.ts"
import type { ChatCompletionClient } from "../../../models/index.ts"
import { duration } from "../../../policy/amount-schema.ts"
import type { ApproveCode } from "./approve-code.ts"

export interface CodeExecutorAgentOptions {
  readonly name: string
  /** @default what it does, with or without a model */
  readonly description?: string | undefined
  /**
   * Where the code runs; whoever made it ends it.
   * @default `createExecutor({ sandbox: "auto" })`: made at the first use, never the host, ended by `close()`
   */
  readonly codeExecutor?: CodeExecutor | undefined
  /** Writes the code. @default none: the agent runs the code in what others say */
  readonly modelClient?: ChatCompletionClient | undefined
  /** What the model is shown of the conversation. @default all of it */
  readonly modelContext?: ChatCompletionContext | undefined
  /** Whether the stream tells what the model says piece by piece. @default false */
  readonly modelClientStream?: boolean | undefined
  /** For the model; null for none. @default how its code is run */
  readonly systemMessage?: string | null | undefined
  /** How often in a turn the model may correct code that failed. @default 0 */
  readonly maxRetriesOnError?: number | undefined
  /** Whether the model says at the end what came of it; else the answer is what the code printed. @default true */
  readonly reflect?: boolean | undefined
  /** What is run; other code is passed over. `sh` and `bash` are one. @default ["python", "sh"] */
  readonly supportedLanguages?: readonly string[] | undefined
  /** Whose messages are read; what others say is passed over. @default everybody's */
  readonly sources?: readonly string[] | undefined
  /**
   * What it is bound by: who may run what and who is asked, what is recorded, traced and redacted. It holds for its model
   * and its executor.
   */
  readonly governance?: Governance | undefined
  /**
   * Asked before code runs. Anything but a plain yes is a no, and ends the turn.
   * @default the gate of its governance; without, nobody is asked
   */
  readonly approve?: ApproveCode | undefined
  /** How long to wait for an approval, as "5m" or in milliseconds; then it is a no. @default no bound */
  readonly approvalTimeout?: string | number | undefined
  /** Whether a reset also forgets the sandbox's files. @default true for an executor of its own, else false */
  readonly restartOnReset?: boolean | undefined
  /**
   * Must be true for an executor that runs code on this machine itself while nobody approves it, or a rule of the gate
   * does: then whatever a model or another agent writes runs with all rights of this process's user. @default false
   */
  readonly dangerouslyRunWithoutApproval?: boolean | undefined
}

function withMethods<T>(what: string, ...methods: readonly string[]): z.ZodType<T> {
  return z.custom<T>(
    (value) =>
      typeof value === "object" &&
      value !== null &&
      methods.every((method) => typeof (value as Record<string, unknown>)[method] === "function"),
    `must be a ${what}`,
  )
}

const LONGEST_TIMER_MS = 2 ** 31 - 1

const schema = z.strictObject({
  // Checked as every agent's are.
  name: z.string(),
  description: z.string().optional(),
  codeExecutor: withMethods<CodeExecutor>("code executor", "stream", "restart").optional(),
  modelClient: withMethods<ChatCompletionClient>("model client", "create", "createStream").optional(),
  modelContext: withMethods<ChatCompletionContext>("model context", "addMessage", "getMessages").optional(),
  modelClientStream: z.boolean().optional(),
  systemMessage: z.string().nullable().optional(),
  maxRetriesOnError: z.int().min(0).max(100).optional(),
  reflect: z.boolean().optional(),
  supportedLanguages: z
    .array(z.string().trim().min(1))
    .min(1, "is empty: name what may run")
    .default(["python", "sh"]),
  sources: z.array(z.string().min(1)).min(1, "is empty: nobody's messages would be read").optional(),
  governance: withMethods<Governance>("Governance", "agent", "record").optional(),
  approve: z.custom<ApproveCode>((value) => typeof value === "function", "must be a function").optional(),
  approvalTimeout: duration(1, LONGEST_TIMER_MS).optional(),
  restartOnReset: z.boolean().optional(),
  dangerouslyRunWithoutApproval: z.boolean().default(false),
})

export type ReadCodeExecutorOptions = z.output<typeof schema>

/** Names that AutoGen has for them. */
const OTHER_NAMES = { approval_func: "approve", executor: "codeExecutor" }

const OF_A_MODEL = [
  "modelContext",
  "modelClientStream",
  "systemMessage",
  "maxRetriesOnError",
  "reflect",
] as const

/** Checks the options, and that none of them would do nothing. */
export function readCodeExecutorOptions(options: CodeExecutorAgentOptions): ReadCodeExecutorOptions {
  const read = readOptions("CodeExecutorAgent", schema, options, { otherNames: OTHER_NAMES })
  const { name, modelClient, approve, approvalTimeout, codeExecutor, dangerouslyRunWithoutApproval } = read
  const idle = modelClient ? [] : OF_A_MODEL.filter((option) => read[option] !== undefined)
  if (idle.length > 0) {
    throw invalid(
      `${idle.join(", ")} is for a model, and ${name} has none. Pass modelClient, or leave it out.`,
    )
  }
  const isAsked = approve !== undefined || read.governance?.gate !== undefined
  if (approvalTimeout !== undefined && !isAsked) {
    throw invalid(`${name} has an approvalTimeout and nobody to ask. Pass approve, or governance.`)
  }
  if (approve && dangerouslyRunWithoutApproval) {
    throw invalid(`${name} has approve and dangerouslyRunWithoutApproval. Choose one.`)
  }
  if (codeExecutor?.runsOnHost === true && !isAsked && !dangerouslyRunWithoutApproval) {
    throw new GloveboxError(
      "HOST_EXECUTION_REFUSED",
      `The executor of ${name} runs code on this machine itself, and nobody looks at the code before. Use a sandbox, pass approve or governance, or set dangerouslyRunWithoutApproval: true.`,
    )
  }
  return read
}

function invalid(message: string): GloveboxError {
  return new GloveboxError("OPTION_INVALID", message)
}
