import { randomUUID } from "node:crypto"
import { z } from "zod"
import { formatIssues } from "../../internal/format-issues.ts"
import type { CreateResult, FinishReason } from "../create-result.ts"
import type { FunctionCall } from "../messages.ts"
import { normalizeName } from "../normalize-name.ts"
import { ReportedError } from "../reported-error.ts"
import { splitThought } from "../split-thought.ts"
import { ThoughtFilter } from "../thought-filter.ts"

const chunkSchema = z.object({
  message: z
    .object({
      content: z.string().nullish(),
      thinking: z.string().nullish(),
      tool_calls: z
        .array(
          z.object({
            id: z.string().nullish(),
            function: z.object({
              name: z.string(),
              arguments: z.union([z.string(), z.looseObject({})]).nullish(),
            }),
          }),
        )
        .nullish(),
    })
    .nullish(),
  done: z.boolean(),
  done_reason: z.string().nullish(),
  prompt_eval_count: z.number().nullish(),
  eval_count: z.number().nullish(),
})

/** What Ollama reports instead of an answer, also in the middle of one. */
const errorSchema = z.object({ error: z.string() })

/** Gathers an answer, whole or in parts, and yields its text as it comes. */
export async function* gatherAnswer(parts: AsyncIterable<unknown>): AsyncGenerator<string, CreateResult> {
  const calls: FunctionCall[] = []
  const filter = new ThoughtFilter()
  let text = ""
  let thinking = ""
  for await (const part of parts) {
    const reported = errorSchema.safeParse(part)
    if (reported.success) throw new ReportedError({ message: reported.data.error })
    const { data, error } = chunkSchema.safeParse(part)
    if (error) throw new SyntaxError(`a part of the answer does not fit: ${formatIssues(error.issues)}`)
    thinking += data.message?.thinking ?? ""
    text += data.message?.content ?? ""
    for (const call of data.message?.tool_calls ?? []) calls.push(toCall(call, calls))
    yield filter.add(data.message?.content ?? "")
    if (data.done) {
      yield filter.end()
      const usage = { promptTokens: data.prompt_eval_count ?? 0, completionTokens: data.eval_count ?? 0 }
      return toCreateResult(text, thinking, calls, data.done_reason ?? undefined, usage)
    }
  }
  throw new SyntaxError("the stream ended before the answer did")
}

type CallPart = NonNullable<NonNullable<z.output<typeof chunkSchema>["message"]>["tool_calls"]>[number]

function toCall(
  { id, function: { name, arguments: args } }: CallPart,
  others: readonly FunctionCall[],
): FunctionCall {
  return {
    id: id && others.every((other) => other.id !== id) ? id : `call_${randomUUID()}`,
    name: normalizeName(name),
    arguments: typeof args === "string" ? args : JSON.stringify(args ?? {}),
  }
}

function toCreateResult(
  text: string,
  thinking: string,
  calls: readonly FunctionCall[],
  reason: string | undefined,
  usage: CreateResult["usage"],
): CreateResult {
  const split = thinking === "" ? splitThought(text, "opened") : { content: text }
  const said = [thinking, split.thought ?? "", calls.length > 0 ? split.content : ""].filter(
    (part) => part !== "",
  )
  return {
    finishReason: calls.length > 0 ? "function_calls" : finishReason(reason),
    content: calls.length > 0 ? calls : split.content,
    usage,
    cached: false,
    ...(said.length === 0 ? {} : { thought: said.join("\n\n") }),
  }
}

function finishReason(reason: string | undefined): FinishReason {
  return reason === "stop" || reason === "length" ? reason : "unknown"
}
