/** Waits for a promise to settle, but no longer than that; the work behind it goes on. */
export async function atMost(promise: Promise<unknown>, ms: number): Promise<void> {
  if (ms === 0) return
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([Promise.allSettled([promise]), late])
  clearTimeout(timer)
}
