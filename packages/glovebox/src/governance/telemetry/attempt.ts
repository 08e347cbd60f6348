/** Does what must not take anybody's work with it: what it throws is let go. */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
