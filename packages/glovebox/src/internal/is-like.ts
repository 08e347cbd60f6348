/** Whether a name fits a pattern, in which `*` stands for any characters. */
export function isLike(pattern: string, value: string): boolean {
  if (!pattern.includes("*")) return pattern === value
  const [head = "", ...rest] = pattern.split("*")
  const tail = rest.pop() ?? ""
  if (value.length < head.length + tail.length) return false
  if (!value.startsWith(head) || !value.endsWith(tail)) return false
  // Each part where it is first found: by hand, because a pattern of many stars can make a regular expression crawl.
  let from = head.length
  for (const part of rest) {
    const at = value.indexOf(part, from)
    if (at < 0) return false
    from = at + part.length
  }
  return from <= value.length - tail.length
}
