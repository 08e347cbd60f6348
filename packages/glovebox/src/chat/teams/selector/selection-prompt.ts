import type { LLMMessage, ModelInfo } from "../../../models/index.ts"
import { formatTemplate } from "../../messages/index.ts"

/** What the model is asked where the program gives no prompt of its own. */
export const SELECTOR_PROMPT = `You lead a conversation and decide who speaks next.

Who takes part, and what each is for:
{roles}

What was said so far:
{history}

Read it, and choose the one of these who can do most for it now: {participants}
Answer with that name alone.`

interface Role {
  readonly name: string
  readonly description: string
}

/** Fills in a prompt. What was said may contain anything, also placeholders, and stays as it is. */
export function selectionPrompt(
  template: string,
  roles: readonly Role[],
  candidates: readonly string[],
  history: readonly LLMMessage[],
): string {
  return formatTemplate(template, {
    roles: roles.map(({ name, description }) => `${name}: ${oneLine(description)}`).join("\n"),
    participants: candidates.join(", "),
    history: history.map(line).join("\n") || "(Nothing yet.)",
  })
}

/** The prompt as the model takes it: most want words of a user, and OpenAI's take instructions alone. */
export function promptMessage({ family }: ModelInfo, content: string): LLMMessage {
  return /^(?:gpt-\d|o\d)/.test(family)
    ? { type: "SystemMessage", content }
    : { type: "UserMessage", content, source: "user" }
}

/** What is wrong with an answer that names these, or undefined when it chooses a candidate. */
export function selectionProblem(
  named: readonly string[],
  candidates: readonly string[],
): string | undefined {
  const again = `Answer with exactly one of these names and nothing else: ${candidates.join(", ")}.`
  const [first, ...others] = named
  if (first === undefined) return `This names nobody who takes part. ${again}`
  if (others.length > 0) return `This names ${named.length} of them: ${named.join(", ")}. ${again}`
  return candidates.includes(first) ? undefined : `${first} cannot speak next. ${again}`
}

function line(message: LLMMessage): string {
  switch (message.type) {
    case "UserMessage":
      return `${message.source}: ${contentText(message.content)}`
    case "AssistantMessage":
      return `${message.source}: ${typeof message.content === "string" ? message.content : callsText(message.content)}`
    case "FunctionExecutionResultMessage":
      return message.content.map(({ name, content }) => `${name}: ${content}`).join("\n")
    case "SystemMessage":
    default:
      return message.content
  }
}

function contentText(content: Extract<LLMMessage, { type: "UserMessage" }>["content"]): string {
  if (typeof content === "string") return content
  return content.map((part) => (typeof part === "string" ? part : `[image: ${part.mediaType}]`)).join("\n")
}

function callsText(calls: readonly { readonly name: string; readonly arguments: string }[]): string {
  return calls.map((call) => `${call.name}(${call.arguments})`).join("\n")
}

function oneLine(text: string): string {
  return text.trim().replaceAll(/\s+/g, " ")
}
