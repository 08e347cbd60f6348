const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN = new Set([0x5b, 0x7b])
const CLOSE = new Set([0x5d, 0x7d])

/** Whether JSON is nested no deeper than this; seen before it is parsed, as what is parsed may be walked by anyone. */
export function isShallow(json: Uint8Array, maxDepth: number): boolean {
  let depth = 0
  let isText = false
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at]!
    if (isText) {
      if (byte === BACKSLASH) at += 1
      else if (byte === QUOTE) isText = false
    } else if (byte === QUOTE) isText = true
    else if (OPEN.has(byte)) {
      depth += 1
      if (depth > maxDepth) return false
    } else if (CLOSE.has(byte)) depth -= 1
  }
  return true
}
