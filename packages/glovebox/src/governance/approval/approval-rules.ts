/* oxlint-disable unicorn/no-thenable -- here `then` is a word, which no await takes for a promise */
import { z } from "zod"
import { isLike } from "../../internal/is-like.ts"
import type { PolicyChange } from "../../policy/index.ts"
import { APPROVAL_KINDS, type ApprovalKind } from "./approval-payload.ts"
import { type ApprovalRisk, RISKS } from "./gate-request.ts"

/** What a rule may say: let it pass, ask somebody, or refuse. */
export type ApprovalLane = "allow" | "ask" | "deny"

type OneOrMore<T> = T | readonly T[]

/** All that is named must hold. Names may have `*` for any characters. */
export interface ApprovalRuleWhen {
  readonly kind?: OneOrMore<ApprovalKind> | undefined
  readonly tool?: OneOrMore<string> | undefined
  readonly agent?: OneOrMore<string> | undefined
  readonly risk?: OneOrMore<ApprovalRisk> | undefined
  /** Of code: all of its blocks for `allow`, any of them for `ask` and `deny`. */
  readonly language?: OneOrMore<string> | undefined
  /** Whether it reaches more than deny-all does, or nobody knows. More time or memory is no reach. */
  readonly wider?: boolean | undefined
  /** Whether the tool itself wants an approval. */
  readonly asks?: boolean | undefined
}

export interface ApprovalRule {
  readonly when: ApprovalRuleWhen
  readonly then: ApprovalLane
}

/** What rules look at. */
export interface RuleSubject {
  readonly kind: ApprovalKind
  readonly tool: string | undefined
  readonly agent: string
  readonly risk: ApprovalRisk
  readonly languages: readonly string[]
  readonly wider: boolean
  readonly asks: boolean
}

/** What a decision was based on: a rule by its place, or whoever was asked. */
export type DecisionBasis =
  | { readonly by: "rule" | "default"; readonly rule: number }
  | { readonly by: "provider"; readonly provider: string }

/** For what no rule of the user is about: inside deny-all no question, and a tool has its own choice. */
const DEFAULT_RULES: readonly ApprovalRule[] = [
  { when: { kind: ["code", "policy"], wider: false }, then: "allow" },
  { when: { kind: "tool", asks: false, risk: ["low", "medium"] }, then: "allow" },
  { when: {}, then: "ask" },
]

const oneOrMore = <Item extends z.ZodType>(item: Item) =>
  z.union([item, z.array(item).min(1).readonly()]).optional()
const names = oneOrMore(z.string().min(1))

const ruleSchema = z.strictObject({
  when: z.strictObject({
    kind: oneOrMore(z.enum(APPROVAL_KINDS)),
    tool: names,
    agent: names,
    risk: oneOrMore(z.enum(RISKS)),
    language: names,
    wider: z.boolean().optional(),
    asks: z.boolean().optional(),
  }),
  then: z.enum(["allow", "ask", "deny"]),
})

export const rulesSchema = z.array(ruleSchema).readonly()

/** The first rule that matches, the user's before the defaults. */
export function decideLane(
  rules: readonly ApprovalRule[],
  subject: RuleSubject,
): { readonly lane: ApprovalLane; readonly basis: DecisionBasis } {
  for (const [by, list] of [
    ["rule", rules],
    ["default", DEFAULT_RULES],
  ] as const) {
    const rule = list.findIndex((one) => matches(one, subject))
    const found = list[rule]
    if (found) return { lane: found.then, basis: { by, rule } }
  }
  return { lane: "deny", basis: { by: "default", rule: DEFAULT_RULES.length } }
}

/** Whether changes reach further; for a policy itself, whatever does not narrow it may. */
export function isWider(kind: ApprovalKind, changes: readonly PolicyChange[] | undefined): boolean {
  if (changes === undefined) return true
  if (kind === "policy") return changes.some(({ effect }) => effect !== "narrows")
  return changes.some(({ path, effect }) => effect === "widens" && !path.startsWith("limits."))
}

function matches({ when, then }: ApprovalRule, subject: RuleSubject): boolean {
  if (when.wider !== undefined && when.wider !== subject.wider) return false
  if (when.asks !== undefined && when.asks !== subject.asks) return false
  return (
    isOneOf(when.kind, subject.kind) &&
    isOneOf(when.risk, subject.risk) &&
    isOneOf(when.agent, subject.agent) &&
    isOneOf(when.tool, subject.tool) &&
    speaks(when.language, subject.languages, then)
  )
}

// One block of another language must not slip through with those that are allowed, nor past a rule that denies it.
function speaks(
  wanted: OneOrMore<string> | undefined,
  languages: readonly string[],
  then: ApprovalLane,
): boolean {
  if (wanted === undefined) return true
  if (languages.length === 0) return false
  const is = (language: string): boolean => isOneOf(lowerCase(wanted), language.toLowerCase())
  return then === "allow" ? languages.every(is) : languages.some(is)
}

function lowerCase(wanted: OneOrMore<string>): readonly string[] {
  return [wanted].flat().map((name) => name.toLowerCase())
}

function isOneOf(wanted: OneOrMore<string> | undefined, value: string | undefined): boolean {
  if (wanted === undefined) return true
  if (value === undefined) return false
  return [wanted].flat().some((pattern) => isLike(pattern, value))
}
