/** Tells all of them at once, whatever one of them does; then fails with what went wrong first. */
export async function tellAll<T>(all: readonly T[], tell: (one: T) => Promise<unknown>): Promise<void> {
  const told = await Promise.allSettled(all.map(async (one) => tell(one)))
  const failed = told.find(({ status }) => status === "rejected")
  if (failed?.status === "rejected") throw failed.reason
}
