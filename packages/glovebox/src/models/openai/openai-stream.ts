import { z } from "zod"
import { formatIssues } from "../../internal/format-issues.ts"
import type { CreateResult } from "../create-result.ts"
import { ThoughtFilter } from "../thought-filter.ts"
import {
  type Answer,
  logprobsSchema,
  readTexts,
  textShape,
  toCreateResult,
  usageSchema,
  writesThoughts,
} from "./openai-answer.ts"
import { GatheredCalls, callDeltaSchema } from "./gathered-calls.ts"

const chunkSchema = z.object({
  choices: z
    .array(
      z.object({
        index: z.int().nullish(),
        delta: z.object({ ...textShape, tool_calls: z.array(callDeltaSchema).nullish() }).nullish(),
        finish_reason: z.string().nullish(),
        logprobs: logprobsSchema,
      }),
    )
    .nullish(),
  usage: usageSchema.nullish(),
})

/** Gathers the pieces of a streamed answer, and yields its text as it comes. */
export async function* gatherStream(
  chunks: AsyncIterable<unknown>,
  family: string,
): AsyncGenerator<string, CreateResult> {
  const calls = new GatheredCalls()
  const filter = writesThoughts(family) ? new ThoughtFilter() : undefined
  const logprobs: Answer["logprobs"][number][] = []
  let text = ""
  let refusal = ""
  let reasoning = ""
  let finish: string | undefined
  let usage: Answer["usage"]
  for await (const chunk of chunks) {
    const { data, error } = chunkSchema.safeParse(chunk)
    if (error) throw new SyntaxError(`a part of the stream does not fit: ${formatIssues(error.issues)}`)
    usage = data.usage ?? usage
    // Other choices than the first were not asked for.
    const choice = data.choices?.find(({ index }) => (index ?? 0) === 0)
    finish = choice?.finish_reason ?? finish
    logprobs.push(...(choice?.logprobs?.content ?? []))
    if (!choice?.delta) continue
    for (const delta of choice.delta.tool_calls ?? []) calls.add(delta)
    const piece = readTexts(choice.delta)
    reasoning += piece.reasoning
    text += piece.text
    refusal += piece.refusal
    yield filter ? filter.add(piece.text + piece.refusal) : piece.text + piece.refusal
  }
  if (finish === undefined) throw new SyntaxError("the stream ended before the answer did")
  yield filter?.end() ?? ""
  if (calls.all.some(({ name }) => name === "")) throw new SyntaxError("a call in the stream has no name")
  return toCreateResult({ text, refusal, reasoning, calls: calls.all, finish, usage, logprobs }, family)
}
