import { RoutedAgent } from "../../core/index.ts"
import type { ChatItem } from "../messages/index.ts"
import type { WireItems } from "../messages/wire-items.ts"
import { GroupChatMessage } from "./group-chat-messages.ts"

/** Takes what a run tells; a promise resolves when the reader has room for more. */
export type TakeItem = (item: ChatItem) => Promise<void> | undefined

/** Where the team's members tell what happens. */
export class OutputAgent extends RoutedAgent {
  constructor(wire: WireItems, take: TakeItem) {
    super("Gives what a team tells to whoever reads its stream.")
    // Its signal is not looked at, because that costs more than all the rest; the run has one.
    this.on(GroupChatMessage, ({ message }) => take(wire.item(message)))
  }
}
