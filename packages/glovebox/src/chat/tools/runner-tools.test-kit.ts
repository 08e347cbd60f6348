import { ReplayChatCompletionClient, type ReplayResponse } from "../../models/replay/index.ts"
import { type Tool, toolResultText } from "../../tools/index.ts"

export function model(...responses: readonly ReplayResponse[]): ReplayChatCompletionClient {
  return new ReplayChatCompletionClient(responses)
}

export async function textOf(result: ReturnType<Tool["run"]>): Promise<string> {
  return toolResultText(await result)
}
