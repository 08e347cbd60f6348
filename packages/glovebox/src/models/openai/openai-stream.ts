import { z } from "zod"
import { formatIssues } from "../../internal/format-issues.ts"
import type { CreateResult } from "../create-result.ts"
import {
  type Answer,
  logprobsSchema,
  readTexts,
  textShape,
  toCreateResult,
  usageSchema,
} from "./openai-answer.ts"
import { argumentsSchema } from "./openai-completion.ts"

const callDeltaSchema = z.object({
  index: z.int().nonnegative().nullish(),
  id: z.string().nullish(),
  function: z.object({ name: z.string().nullish(), arguments: argumentsSchema }).nullish(),
})

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

interface GatheredCall {
  index: number
  id: string
  name: string
  arguments: string
}

/** Gathers the pieces of a streamed answer, and yields its text as it comes. */
export async function* gatherStream(
  chunks: AsyncIterable<unknown>,
  family: string,
): AsyncGenerator<string, CreateResult> {
  const calls: GatheredCall[] = []
  const logprobs: Answer["logprobs"][number][] = []
  let text = ""
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
    for (const delta of choice.delta.tool_calls ?? []) addCall(calls, delta)
    const piece = readTexts(choice.delta)
    reasoning += piece.reasoning
    text += piece.text
    yield piece.text
  }
  if (finish === undefined) throw new SyntaxError("the stream ended before the answer did")
  if (calls.some(({ name }) => name === "")) throw new SyntaxError("a call in the stream has no name")
  return toCreateResult({ text, reasoning, calls, finish, usage, logprobs }, family)
}

function addCall(calls: GatheredCall[], delta: z.output<typeof callDeltaSchema>): void {
  const { id, function: part } = delta
  // Without a number a piece belongs to the last call, unless it brings another id.
  const index = delta.index ?? calls.at(-1)?.index ?? 0
  let call = calls.findLast((known) => known.index === index)
  // Gemini's server gives parallel calls the same number and ids of their own.
  if (!call || (id && call.id !== "" && call.id !== id)) {
    call = { index, id: "", name: "", arguments: "" }
    calls.push(call)
  }
  call.id ||= id ?? ""
  // Some servers repeat the name in each piece.
  if (part?.name && part.name !== call.name) call.name += part.name
  call.arguments += part?.arguments ?? ""
}
