/** A loop: its nodes in order, the first one again at the end. Written without recursion, for long chains. */
export function findCycle(
  names: readonly string[],
  edgesOf: (name: string) => readonly { readonly target: string }[],
): readonly string[] | undefined {
  const done = new Set<string>()
  for (const start of names) {
    if (done.has(start)) continue
    const path = [start]
    const onPath = new Map([[start, edgesOf(start).values()]])
    for (let at = path.at(-1); at !== undefined; at = path.at(-1)) {
      const next = onPath.get(at)?.next()
      if (next === undefined || next.done === true) {
        done.add(at)
        onPath.delete(at)
        path.pop()
        continue
      }
      const { target } = next.value
      if (onPath.has(target)) return [...path.slice(path.indexOf(target)), target]
      if (done.has(target)) continue
      path.push(target)
      onPath.set(target, edgesOf(target).values())
    }
  }
  return undefined
}
