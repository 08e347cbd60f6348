/** The same set however it was written. */
export function asSet(items: readonly string[]): string[] {
  return [...new Set(items)].toSorted()
}
