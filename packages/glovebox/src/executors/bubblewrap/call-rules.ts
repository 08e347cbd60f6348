/** A test of one argument of a call, all 64 bits of it. */
export interface ArgumentTest {
  readonly index: number
  readonly op: "equal" | "not-equal" | "greater" | "at-least" | "less" | "at-most"
  readonly value: bigint
  /** Which bits count, for "equal". */
  readonly mask: bigint
}

/** What happens to a call whose tests all hold. */
export interface CallRule {
  readonly name: string
  readonly tests: readonly ArgumentTest[]
  /** As the kernel takes it. */
  readonly verdict: number
}

export interface CallRules {
  readonly calls: readonly CallRule[]
  /** For all other calls. */
  readonly otherwise: number
}
