import {
  AssistantAgent,
  MaxMessageTermination,
  RoundRobinGroupChat,
  type TerminationCondition,
} from "glovebox"
import { BufferedChatCompletionContext } from "glovebox/memory"
import { ReplayChatCompletionClient } from "glovebox/models/replay"

/** How many messages a model is shown, however long the conversation is. */
export const SHOWN = 10
export const TASK = "Talk about glass until somebody stops you."
const ANSWER = "Glass is an amorphous solid, and what is said of it here is always the same."

/** Two agents who speak in turn, and models that answer at once. */
export function twoAgents(terminationCondition: TerminationCondition): RoundRobinGroupChat {
  const participants = ["ada", "bob"].map(
    (name) =>
      new AssistantAgent({
        name,
        modelClient: new ReplayChatCompletionClient([ANSWER], { repeat: true, keepCalls: false }),
        modelContext: new BufferedChatCompletionContext({ bufferSize: SHOWN }),
      }),
  )
  return new RoundRobinGroupChat({ participants, terminationCondition })
}

/** They stop when there are so many turns beside the task. */
export function turnsOf(turns: number): MaxMessageTermination {
  return new MaxMessageTermination(turns + 1)
}
