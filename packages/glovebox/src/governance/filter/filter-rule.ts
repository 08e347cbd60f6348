import { z } from "zod"

export type FindingKind = "host-path" | "credential" | "network" | "custom"

/** flag: tell; strip: take it out of the text; block: refuse the message. */
export type FilterAction = "flag" | "strip" | "block"

/** Something a message may ask for that it should not. */
export interface FilterRule {
  readonly name: string
  /** @default "custom" */
  readonly kind?: FindingKind | undefined
  /**
   * Tried on the normalized text: small letters, single spaces, `\` as `/`. Use bounded repeats (`{0,80}`, not `*`):
   * the time it takes is the rule's.
   */
  readonly pattern: RegExp
  /** @default "flag" */
  readonly action?: FilterAction | undefined
}

/** What a rule found: where, and never what. */
export interface Finding {
  readonly rule: string
  readonly kind: FindingKind
  readonly action: FilterAction
  /** The first character of it in the text that was given. */
  readonly start: number
  /** The first character after it. */
  readonly end: number
}

const RULE_NAME = /^[\w.-]{1,64}$/

export const actionSchema = z.enum(["flag", "strip", "block"])

export const filterRuleSchema = z.strictObject({
  name: z.string().regex(RULE_NAME, "write 1 to 64 letters, digits, dots, underscores or hyphens"),
  kind: z.enum(["host-path", "credential", "network", "custom"]).default("custom"),
  pattern: z.instanceof(RegExp),
  action: actionSchema.optional(),
})
