const MAX_INCOMPLETE = 3

/** How many bytes at the end are the beginning of a character whose rest is missing. */
export function incompleteEnd(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(MAX_INCOMPLETE, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0
    if (!isContinuation(byte)) return sequenceLength(byte) > back ? back : 0
  }
  return 0
}

/** How many bytes at the start are the rest of a character whose beginning is missing. */
export function continuationStart(bytes: Uint8Array): number {
  let count = 0
  while (count < Math.min(MAX_INCOMPLETE, bytes.length) && isContinuation(bytes[count] ?? 0)) count += 1
  return count
}

function isContinuation(byte: number): boolean {
  return byte >= 0x80 && byte < 0xc0
}

function sequenceLength(lead: number): number {
  if (lead >= 0xf0 && lead <= 0xf4) return 4
  if (lead >= 0xe0 && lead <= 0xef) return 3
  return lead >= 0xc2 && lead <= 0xdf ? 2 : 1
}
