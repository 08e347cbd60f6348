/** A shuffled copy; the same in every run, so that runs can be compared. */
export function shuffle<Item>(items: readonly Item[]): Item[] {
  let state = 42
  const random = (): number => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0)
  return items
    .map((item) => ({ item, rank: random() }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ item }) => item)
}
