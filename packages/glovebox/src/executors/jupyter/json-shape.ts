const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

export interface JsonLimits {
  readonly maxDepth: number
  /** Values and members, all together: they, and not its text, make JSON slow to parse. */
  readonly maxValues: number
}

/** Whether JSON is within these limits; seen before it is parsed, as what is parsed may be walked by anyone. */
export function isSimple(json: Uint8Array, { maxDepth, maxValues }: JsonLimits): boolean {
  let depth = 0
  let values = 0
  let isText = false
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at]!
    if (isText) {
      if (byte === BACKSLASH) at += 1
      else if (byte === QUOTE) isText = false
    } else if (byte === QUOTE) isText = true
    else if (byte === COMMA || byte === OPEN_LIST || byte === OPEN_OBJECT) {
      values += 1
      if (byte !== COMMA) depth += 1
      if (depth > maxDepth || values > maxValues) return false
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1
  }
  return true
}
