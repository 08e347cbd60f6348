import { randomBytes } from "node:crypto"
import { z } from "zod"
import {
  GloveboxError,
  type InterventionDecision,
  type InterventionHandler,
  type Message,
} from "../../core/index.ts"
import { readOptions } from "../../core/read-options.ts"
import type { LLMMessage } from "../../models/messages.ts"
import { DEFAULT_FILTER_RULES } from "./default-rules.ts"
import {
  type FilterAction,
  type FilterRule,
  type Finding,
  type FindingKind,
  actionSchema,
  filterRuleSchema,
} from "./filter-rule.ts"
import { filterForModel } from "./filter-for-model.ts"
import { normalizeText } from "./normalized-text.ts"
import { TooDeep, rewriteMessage } from "./rewrite-text.ts"
import { markUntrusted, untrustedNotice } from "./untrusted.ts"

export interface MessageFilterOptions {
  /** Instead of the default rules. @default DEFAULT_FILTER_RULES */
  readonly rules?: readonly FilterRule[] | undefined
  /** Beside them; one of the same name replaces it. @default [] */
  readonly extend?: readonly FilterRule[] | undefined
  /** What is done, by the name of a rule or by a kind; the name is stronger. @default {} */
  readonly actions?: Readonly<Record<string, FilterAction>> | undefined
  /** Told of each finding, also of those that are stripped or block. When it throws, nothing passes. */
  readonly onFinding?: ((finding: Finding, place: FindingPlace) => void) | undefined
}

/** Where the text is that a finding is in. */
export interface FindingPlace {
  /** The path of the field in the message, such as `content`; empty for plain text. */
  readonly field: string
}

export interface FilteredText {
  readonly text: string
  /** With ranges of the text that was given. */
  readonly findings: readonly Finding[]
}

interface CompiledRule {
  readonly name: string
  readonly kind: FindingKind
  readonly action: FilterAction
  readonly pattern: RegExp
}

const optionsSchema = z.strictObject({
  rules: z.array(filterRuleSchema).optional(),
  extend: z.array(filterRuleSchema).default([]),
  actions: z.record(z.string(), actionSchema).default({}),
  onFinding: z.function().optional(),
})
// What is left out can make a new match at its edges.
const MAX_PASSES = 8

/**
 * Finds requests for host paths, credentials and network reach in texts on their way to a model. A seat belt, not a
 * wall: the wall is the sandbox.
 *
 * @example
 * const filter = new MessageFilter({ actions: { credential: "block", network: "strip" } })
 * const runtime = new SingleThreadedAgentRuntime({ interventions: [filter.intervention()] })
 */
export class MessageFilter {
  readonly #rules: readonly CompiledRule[]
  readonly #onFinding: MessageFilterOptions["onFinding"]
  readonly #nonce = randomBytes(12).toString("hex")

  constructor(options: MessageFilterOptions = {}) {
    const {
      rules = DEFAULT_FILTER_RULES,
      extend,
      actions,
    } = readOptions("a MessageFilter", optionsSchema, options)
    this.#onFinding = options.onFinding
    const byName = new Map([...rules, ...extend].map((rule) => [rule.name, rule]))
    this.#rules = [...byName.values()].map(({ name, kind = "custom", pattern, action = "flag" }) => ({
      name,
      kind,
      action: actions[name] ?? actions[kind] ?? action,
      pattern: new RegExp(pattern.source, `${pattern.flags.replace(/[gyd]/g, "")}g`),
    }))
    const known = new Set<string>(this.#rules.flatMap(({ name, kind }) => [name, kind]))
    const unknown = Object.keys(actions).find((name) => !known.has(name))
    if (unknown === undefined) return
    throw new GloveboxError(
      "OPTION_INVALID",
      `The options of a MessageFilter are not valid: actions.${unknown}: no rule and no kind has this name.`,
    )
  }

  /** What the rules find, in the order of the text; nothing is changed and nobody is told. */
  check(text: string): Finding[] {
    const normalized = normalizeText(text)
    const findings = this.#rules.flatMap(({ name, kind, action, pattern }) =>
      Array.from(normalized.text.matchAll(pattern), (match) => ({
        rule: name,
        kind,
        action,
        ...normalized.originalRange(match.index, match.index + match[0].length),
      })).filter(({ start, end }) => end > start),
    )
    return findings.toSorted((a, b) => a.start - b.start || b.end - a.end)
  }

  /**
   * Does what the rules say.
   *
   * @throws `MESSAGE_BLOCKED`, with the rule and the place and without the text
   */
  apply(text: string, { field = "" }: Partial<FindingPlace> = {}): FilteredText {
    const findings = this.check(text)
    for (const finding of findings) this.#onFinding?.(finding, { field })
    const blocking = findings.find(({ action }) => action === "block")
    if (blocking !== undefined) throw blocked(blocking, field)
    let clean = text
    let left: readonly Finding[] = findings
    for (let pass = 0; pass < MAX_PASSES; pass += 1) {
      const strip = left.filter(({ action }) => action === "strip")
      if (strip.length === 0) return { text: clean, findings }
      clean = without(clean, strip)
      left = this.check(clean)
    }
    throw blocked(left[0], field)
  }

  /** For a runtime: each text of each message that is sent, published or answered. */
  intervention(): InterventionHandler {
    const decide = <M extends Message | undefined>(message: M): InterventionDecision<M> => {
      if (message === undefined) return { action: "allow" }
      const filtered = this.#filterMessage(message)
      return filtered === message ? { action: "allow" } : { action: "replace", message: filtered as M }
    }
    return { onSend: decide, onPublish: decide, onResponse: decide }
  }

  /**
   * For what a model is about to read: texts are filtered, and what tools answered is marked untrusted. System
   * messages stay: they are the application's own.
   */
  forModel(messages: readonly LLMMessage[]): LLMMessage[] {
    return filterForModel(messages, {
      apply: (text, field) => this.apply(text, { field }).text,
      mark: (text, origin) => this.markUntrusted(text, origin),
    })
  }

  /** Marks a program's output; the delimiter is this filter's own. */
  markUntrusted(text: string, origin: string): string {
    return markUntrusted(text, { origin, nonce: this.#nonce })
  }

  /** What the system message says of such marks. */
  get untrustedNotice(): string {
    return untrustedNotice(this.#nonce)
  }

  #filterMessage(message: Message): Message {
    try {
      return rewriteMessage(message, (text, field) => this.apply(text, { field }).text)
    } catch (error) {
      if (!(error instanceof TooDeep)) throw error
      throw new GloveboxError(
        "MESSAGE_BLOCKED",
        "The message filter blocked a message: it is nested too deep to be read.",
      )
    }
  }
}

// Ranges that overlap are left out as one.
function without(text: string, findings: readonly Finding[]): string {
  let out = ""
  let at = 0
  for (const { start, end, rule } of findings) {
    if (start >= at) out += `${text.slice(at, start)}[removed:${rule}]`
    at = Math.max(at, end)
  }
  return out + text.slice(at)
}

function blocked(finding: Finding | undefined, field: string): GloveboxError {
  const { rule, kind, start, end } = finding ?? { rule: "?", kind: "custom", start: 0, end: 0 }
  const where = `characters ${start} to ${end}${field === "" ? "" : ` of ${field}`}`
  return new GloveboxError(
    "MESSAGE_BLOCKED",
    `The message filter blocked a message: rule ${rule} (${kind}) found something at ${where}.`,
  )
}
