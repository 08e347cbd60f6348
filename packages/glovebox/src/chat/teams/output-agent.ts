import { RoutedAgent } from "../../core/index.ts"
import type { ChatItem } from "../messages/index.ts"
import { GroupChatMessage } from "./group-chat-messages.ts"

/** Takes what a run tells; resolves when the reader has room for more. */
export type TakeItem = (item: ChatItem, signal: AbortSignal) => Promise<void>

/** Where the team's members tell what happens. */
export class OutputAgent extends RoutedAgent {
  constructor(take: TakeItem) {
    super("Gives what a team tells to whoever reads its stream.")
    this.on(GroupChatMessage, async ({ message }, { signal }) => take(message, signal))
  }
}
