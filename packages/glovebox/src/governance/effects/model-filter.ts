import { GloveboxError } from "../../core/index.ts"
import type { LLMMessage } from "../../models/index.ts"
import type { AuditData } from "../audit/record-kinds.ts"
import { sha256Of } from "../audit/code-run-data.ts"
import type { Finding } from "../filter/filter-rule.ts"
import { MessageFilter, type MessageFilterOptions } from "../filter/message-filter.ts"

/** What came of a message on its way to a model. */
export interface FilteredMessage {
  readonly message: LLMMessage
  /** Undefined when nothing was found. */
  readonly found: AuditData<"message-filtered"> | undefined
}

/** The message filter in front of models; what it finds is for the audit log. */
export class ModelFilter {
  readonly #filter: MessageFilter
  #findings: Finding[] = []

  constructor({ onFinding, ...options }: MessageFilterOptions) {
    this.#filter = new MessageFilter({
      ...options,
      onFinding: (finding, place) => {
        this.#findings.push(finding)
        onFinding?.(finding, place)
      },
    })
  }

  /** For runtimes, and for texts of one's own. */
  get filter(): MessageFilter {
    return this.#filter
  }

  /** @throws MessageBlocked */
  apply(message: LLMMessage): FilteredMessage {
    this.#findings = []
    try {
      const [filtered = message] = this.#filter.forModel([message])
      return { message: filtered, found: this.#found(message) }
    } catch (error) {
      if (!GloveboxError.is(error, "MESSAGE_BLOCKED")) throw error
      throw new MessageBlocked(error, this.#found(message))
    }
  }

  #found(message: LLMMessage): AuditData<"message-filtered"> | undefined {
    if (this.#findings.length === 0) return undefined
    const actions = new Set(this.#findings.map(({ action }) => action))
    return {
      action: (["block", "strip", "flag"] as const).find((action) => actions.has(action)) ?? "flag",
      rules: [...new Set(this.#findings.map(({ rule }) => rule))],
      direction: "to-model",
      source: "source" in message ? message.source : message.type,
      messageSha256: sha256Of(JSON.stringify(message.content)),
      count: this.#findings.length,
    }
  }
}

/** A message that must not go to a model, with what was found in it. */
export class MessageBlocked extends GloveboxError {
  readonly found: AuditData<"message-filtered"> | undefined

  constructor(cause: GloveboxError, found: AuditData<"message-filtered"> | undefined) {
    super("MESSAGE_BLOCKED", cause.message, { cause })
    this.found = found
  }
}
