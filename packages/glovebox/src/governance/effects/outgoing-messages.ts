import type { LLMMessage } from "../../models/index.ts"
import type { AuditData } from "../audit/record-kinds.ts"
import type { Redactor } from "../redaction/redactor.ts"
import type { ModelFilter } from "./model-filter.ts"
import { redactMessage } from "./redact-message.ts"

interface Prepared {
  /** Of the redactor, when it was prepared: what became a secret since then is not taken out yet. */
  readonly generation: number
  readonly message: LLMMessage
}

export interface Outgoing {
  readonly messages: readonly LLMMessage[]
  /** What was found in messages that were not looked at before. */
  readonly found: readonly AuditData<"message-filtered">[]
}

/** A conversation as a model may see it: without secrets, filtered, and with programs' words marked as such. */
export class OutgoingMessages {
  readonly #redactor: Redactor | undefined
  readonly #filter: ModelFilter | undefined
  // A conversation comes again with each request, and is looked at once.
  readonly #known = new WeakMap<LLMMessage, Prepared>()

  constructor(redactor: Redactor | undefined, filter: ModelFilter | undefined) {
    this.#redactor = redactor
    this.#filter = filter
  }

  /** @throws MessageBlocked */
  prepare(messages: readonly LLMMessage[]): Outgoing {
    const found: AuditData<"message-filtered">[] = []
    const prepared = messages.map((message) => this.#prepare(message, found))
    return { messages: this.#withNotice(prepared), found }
  }

  #prepare(message: LLMMessage, found: AuditData<"message-filtered">[]): LLMMessage {
    const generation = this.#redactor?.generation ?? 0
    const known = this.#known.get(message)
    if (known?.generation === generation) return known.message
    const clean = this.#redactor ? redactMessage(message, this.#redactor) : message
    const filtered = this.#filter?.apply(clean)
    if (filtered?.found && !known) found.push(filtered.found)
    const prepared = filtered?.message ?? clean
    this.#known.set(message, { generation, message: prepared })
    return prepared
  }

  // Marks mean nothing to a model that was not told of them.
  #withNotice(messages: readonly LLMMessage[]): readonly LLMMessage[] {
    if (!this.#filter || !messages.some(isMarked)) return messages
    const { untrustedNotice } = this.#filter.filter
    const [first, ...rest] = messages
    return first?.type === "SystemMessage"
      ? [{ ...first, content: `${first.content}\n\n${untrustedNotice}` }, ...rest]
      : [{ type: "SystemMessage", content: untrustedNotice }, ...messages]
  }
}

function isMarked(message: LLMMessage): boolean {
  return (
    message.type === "FunctionExecutionResultMessage" ||
    (message.type === "UserMessage" && message.untrusted !== undefined)
  )
}
