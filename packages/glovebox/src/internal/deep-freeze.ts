/** Freezes a value of plain data, and all that is in it. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value
  for (const inner of Object.values(value)) deepFreeze(inner)
  return Object.freeze(value)
}
