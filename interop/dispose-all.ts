/** One after the other: workers first, then their host. What did not start is left out. */
export async function disposeAll(...resources: readonly (AsyncDisposable | undefined)[]): Promise<void> {
  for (const resource of resources) await resource?.[Symbol.asyncDispose]()
}
