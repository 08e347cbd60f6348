/** Whether a value from JSON has more than so many fields and items in all; what is under `data` is not looked at. */
export function hasMoreItems(value: unknown, most: number): boolean {
  const unseen: unknown[] = [value]
  let count = 0
  while (unseen.length > 0) {
    const next = unseen.pop()
    if (typeof next !== "object" || next === null) continue
    const fields: readonly [string, unknown][] = Object.entries(next)
    count += fields.length
    if (count > most) return true
    for (const [name, field] of fields) if (name !== "data") unseen.push(field)
  }
  return false
}
