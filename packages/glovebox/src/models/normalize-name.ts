/** A name a provider takes, from a name that anyone gave: an agent, or the model itself. */
export function normalizeName(name: string): string {
  return name.replace(/[^\w-]/g, "_").slice(0, 64) || "_"
}
