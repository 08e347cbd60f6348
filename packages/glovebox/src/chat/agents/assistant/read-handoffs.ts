import type { AssistantMessage, FunctionCall, LLMMessage } from "../../../models/index.ts"
import { executeFunctionCall, textContent } from "../../../tools/index.ts"
import { errorResult } from "../../../tools/tool-result.ts"
import { describe } from "../../../internal/describe.ts"
import type { Handoff } from "../handoff.ts"
import { type CallRecord, imagesMessage, withoutAnswer } from "./call-record.ts"

/** What comes of the handoffs among the calls of a round. */
export interface ReadHandoffs {
  /** To whom the word goes. */
  readonly chosen: Handoff | undefined
  readonly records: readonly CallRecord[]
}

/** The first handoff that can be read is the one that is done. */
export async function readHandoffs(
  calls: readonly FunctionCall[],
  handoffs: ReadonlyMap<string, Handoff>,
): Promise<ReadHandoffs> {
  let chosen: Handoff | undefined
  const records: CallRecord[] = []
  for (const call of calls) {
    const wanted = handoffs.get(call.name)
    if (!wanted) continue
    if (chosen) {
      records.push(withoutAnswer(call, `Not done: the conversation goes on with ${chosen.target} already.`))
      continue
    }
    const { answer } = await executeFunctionCall(asTool(wanted), call)
    records.push({ call, result: answer, images: [] })
    if (answer.isError !== true) chosen = wanted
  }
  return { chosen, records }
}

function asTool({ name, message }: Handoff): Parameters<typeof executeFunctionCall>[0] {
  return {
    callTool: async (_name, args) => {
      // What is in an object is of no use; that it is one shows that the call was written whole.
      if (typeof args === "object")
        return { type: "ToolResult", name, result: [textContent(message)], isError: false }
      return errorResult(
        name,
        `${name} takes no arguments, and was given ${describe(args)}. Call it with {}.`,
      )
    },
  }
}

/** What whoever goes on is told of the round that led to them. */
export function handoffContext(
  others: readonly CallRecord[],
  { thought, source }: Pick<AssistantMessage, "thought" | "source">,
): LLMMessage[] {
  if (others.length === 0) {
    return thought === undefined || thought === ""
      ? []
      : [{ type: "AssistantMessage", content: thought, source }]
  }
  const images = imagesMessage(others)
  return [
    {
      type: "AssistantMessage",
      content: others.map(({ call }) => call),
      ...(thought === undefined ? {} : { thought }),
      source,
    },
    { type: "FunctionExecutionResultMessage", content: others.map(({ result }) => result) },
    ...(images ? [images] : []),
  ]
}
