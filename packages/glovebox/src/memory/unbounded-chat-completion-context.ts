import type { LLMMessage } from "../models/index.ts"
import { MessageLog } from "./message-log.ts"

/** Shows the whole conversation. */
export class UnboundedChatCompletionContext extends MessageLog {
  protected override select(messages: readonly LLMMessage[]): readonly LLMMessage[] {
    return messages
  }
}
