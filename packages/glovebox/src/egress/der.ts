/** Values of ASN.1 in their one encoding (DER): as much of it as certificates need. */
export const der = {
  sequence: (...parts: readonly Buffer[]): Buffer => tagged(0x30, Buffer.concat(parts)),
  set: (...parts: readonly Buffer[]): Buffer => tagged(0x31, Buffer.concat(parts)),
  boolean: (value: boolean): Buffer => tagged(0x01, Buffer.from([value ? 0xff : 0])),
  /** Of bytes with the highest first, which are taken for a positive number. */
  integer: (bytes: Buffer): Buffer => tagged(0x02, positive(bytes)),
  bits: (bytes: Buffer, unused = 0): Buffer => tagged(0x03, Buffer.concat([Buffer.from([unused]), bytes])),
  octets: (bytes: Buffer): Buffer => tagged(0x04, bytes),
  identifier: (dotted: string): Buffer => tagged(0x06, identifierBytes(dotted)),
  text: (text: string): Buffer => tagged(0x0c, Buffer.from(text, "utf8")),
  /** With two digits of the year, as certificates must have it up to 2049. */
  time: (at: Date): Buffer =>
    tagged(0x17, Buffer.from(`${at.toISOString().slice(2, 19).replaceAll(/[-:T]/g, "")}Z`)),
  /** A value that its place gives a tag of its own. */
  context: (number: number, content: Buffer): Buffer => tagged(0x80 + number, content),
  /** The same around another value. */
  wrapped: (number: number, content: Buffer): Buffer => tagged(0xa0 + number, content),
} as const

function tagged(tag: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([tag]), lengthBytes(content.length), content])
}

function lengthBytes(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length])
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(length)
  const short = bytes.subarray(bytes.findIndex((byte) => byte !== 0))
  return Buffer.concat([Buffer.from([0x80 + short.length]), short])
}

// The highest bit is the sign, and no byte may be one too many.
function positive(bytes: Buffer): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0)
  const short = first < 0 ? Buffer.from([0]) : bytes.subarray(first)
  return short[0]! >= 0x80 ? Buffer.concat([Buffer.from([0]), short]) : short
}

function identifierBytes(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number)
  return Buffer.from([first * 40 + second, ...rest.flatMap(inSevens)])
}

// Seven bits to a byte, the highest first; all but the last are marked.
function inSevens(value: number): number[] {
  const bytes = [value & 0x7f]
  for (let left = value >>> 7; left > 0; left >>>= 7) bytes.unshift((left & 0x7f) | 0x80)
  return bytes
}
