/** Resolves when the promise settles, whichever way. */
export async function settled(promise: Promise<unknown>): Promise<void> {
  await Promise.allSettled([promise])
}
