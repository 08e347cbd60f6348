/** One difference between two policies. */
export interface PolicyChange {
  /** Where, for example `limits.memory`. */
  readonly path: string
  readonly from: string
  readonly to: string
  /** Whether the sandbox may do more, less, or only something else. */
  readonly effect: "widens" | "narrows" | "changes"
}

export type Effect = PolicyChange["effect"]

/** One change, or none where both say the same. */
export function changed(path: string, from: string, to: string, effect: Effect): PolicyChange[] {
  return from === to ? [] : [{ path, from, to, effect }]
}

/** What was added widens, what was removed narrows. */
export function compareSets(
  path: string,
  before: readonly string[],
  after: readonly string[],
): PolicyChange[] {
  const added = after.filter((item) => !before.includes(item))
  const removed = before.filter((item) => !after.includes(item))
  return [
    ...added.map((item): PolicyChange => ({ path, from: "absent", to: item, effect: "widens" })),
    ...removed.map((item): PolicyChange => ({ path, from: item, to: "absent", effect: "narrows" })),
  ]
}
