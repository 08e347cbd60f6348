import { z } from "zod"
import type { ChatCompletionContext } from "../../../memory/index.ts"
import type { ChatCompletionClient } from "../../../models/index.ts"
import type { Team } from "../../teams/team.ts"

export interface SocietyOfMindAgentOptions {
  readonly name: string
  /** Works on each turn as if it were its first; it ends with this agent. */
  readonly team: Team
  /** Writes the answer from what the team said. */
  readonly modelClient: ChatCompletionClient
  /** What the model is told first. @default a few words */
  readonly instruction?: string | undefined
  /** What the model is told last. @default a few words */
  readonly responsePrompt?: string | undefined
  readonly description?: string | undefined
  /** Keeps what was asked and answered in earlier turns. @default an UnboundedChatCompletionContext */
  readonly modelContext?: ChatCompletionContext | undefined
}

const INSTRUCTION =
  "You speak for a team. Below is what it was asked, and then what its members said to each other about it. Nobody but you has seen their words."
const RESPONSE_PROMPT =
  "Now answer what was asked, in one message that stands by itself. Do not mention the team or its discussion."

function having<T>(what: string, ...names: readonly string[]): z.ZodType<T, T> {
  return z.custom<T>(
    (value) => typeof value === "object" && value !== null && names.every((name) => name in value),
    `is no ${what}`,
  )
}

export const societyOptionsSchema = z.strictObject({
  name: z.string(),
  team: having<Team>("team", "runStream", "reset"),
  modelClient: having<ChatCompletionClient>("model client", "create", "modelInfo"),
  instruction: z.string().default(INSTRUCTION),
  responsePrompt: z.string().min(1).default(RESPONSE_PROMPT),
  description: z.string().default("Answers for a team that works on the task behind it."),
  modelContext: having<ChatCompletionContext>("model context", "addMessage", "getMessages").optional(),
})
