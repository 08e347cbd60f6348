/** Polls until it is so; fails after ten seconds. */
export async function eventually(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 10_000
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`It never came about: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
