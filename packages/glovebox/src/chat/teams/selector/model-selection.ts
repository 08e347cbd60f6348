import { randomUUID } from "node:crypto"
import { type ChatCompletionClient, type LLMMessage, assistantMessage } from "../../../models/index.ts"
import { ModelClientStreamingChunkEvent, SelectorEvent } from "../../messages/index.ts"
import { NO_USAGE } from "../../task/index.ts"
import { askModel } from "../ask-model.ts"
import type { Floor } from "../speaker-policy.ts"
import type { FindMentions } from "./find-mentions.ts"
import type { SelectionHistory } from "./selection-history.ts"
import { promptMessage, selectionProblem, selectionPrompt } from "./selection-prompt.ts"

export interface ModelSelectionOptions {
  /** The team's name: who asks. */
  readonly team: string
  readonly modelClient: ChatCompletionClient
  readonly selectorPrompt: string
  readonly maxSelectorAttempts: number
  readonly modelClientStreaming: boolean
}

/** Asks the model for one of the candidates; undefined when it names none of them in all its attempts. */
export async function selectByModel(
  options: ModelSelectionOptions,
  floor: Floor,
  candidates: readonly string[],
  history: SelectionHistory,
  findMentions: FindMentions,
): Promise<string | undefined> {
  const { modelClient, selectorPrompt } = options
  const said = await history.read(floor.thread, floor.signal)
  const prompt = selectionPrompt(selectorPrompt, floor.participants, candidates, said)
  const messages: LLMMessage[] = [promptMessage(modelClient.modelInfo, prompt)]
  for (let attempt = 1; attempt <= options.maxSelectorAttempts; attempt += 1) {
    const answer = await ask(options, floor, messages)
    const named = findMentions(answer.content)
    const problem = selectionProblem(named, candidates)
    if (problem === undefined) return named[0]
    messages.push(answer, { type: "UserMessage", content: problem, source: "user" })
  }
  return undefined
}

async function ask(
  { team, modelClient, modelClientStreaming }: ModelSelectionOptions,
  floor: Floor,
  messages: readonly LLMMessage[],
): Promise<{ readonly type: "AssistantMessage"; readonly content: string; readonly source: string }> {
  const id = randomUUID()
  const onChunk = async (content: string): Promise<void> =>
    floor.emit(ModelClientStreamingChunkEvent({ content, source: team, fullMessageId: id }))
  const result = await askModel(modelClient, [...messages], {
    signal: floor.signal,
    ...(modelClientStreaming ? { onChunk } : {}),
  })
  // It has no tools, so that calls of some are no answer.
  const content = typeof result.content === "string" ? result.content : ""
  // Nobody was asked for an answer that was stored.
  const modelsUsage = result.cached ? NO_USAGE : result.usage
  await floor.emit(SelectorEvent({ id, content, source: team, modelsUsage }))
  return { ...assistantMessage(result, team), content }
}
