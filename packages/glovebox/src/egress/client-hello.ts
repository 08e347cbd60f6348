/** What the first message of a TLS client says in the clear. */
export interface ClientHello {
  /** Every server name in it; undefined without the extension. */
  readonly names: readonly string[] | undefined
  /** Whether it has an encrypted message inside, for a server that is not named. */
  readonly isEncrypted: boolean
}

export type HelloReading =
  | { readonly hello: ClientHello }
  /** So many bytes, at least, are needed to say more. */
  | { readonly needs: number }
  | { readonly fault: string }

const MOST_HELLO_BYTES = 32 * 1024
const HANDSHAKE = 22
const CLIENT_HELLO = 1
const MOST_RECORD_BYTES = 16 * 1024
// Clients cut it into a few; more would only be work.
const MOST_RECORDS = 64
const SERVER_NAME = 0
const HOST_NAME = 0
// Encrypted Client Hello, and its predecessor.
const ENCRYPTED = [0xfe0d, 0xffce]

/** Reads a ClientHello, which may be in several records. */
export function readClientHello(bytes: Buffer): HelloReading {
  const fragments: Buffer[] = []
  let length = 0
  let start: Buffer | undefined
  for (let at = 0, count = 1; ; count += 1) {
    if (count > MOST_RECORDS) return { fault: "is in too many records" }
    if (bytes.length < at + 5) return needs(at + 5)
    const size = bytes.readUInt16BE(at + 3)
    if (bytes[at] !== HANDSHAKE || bytes[at + 1] !== 3 || bytes[at + 2]! > 4)
      return { fault: "is not a handshake of TLS" }
    if (size === 0 || size > MOST_RECORD_BYTES) return { fault: "has a record of an odd size" }
    const end = at + 5 + size
    if (bytes.length < end) return needs(end)
    fragments.push(bytes.subarray(at + 5, end))
    length += size
    at = end
    if (length < 4) continue
    // Joined once: each of many small records must not cost all before it again.
    start ??= Buffer.concat(fragments).subarray(0, 4)
    if (start[0] !== CLIENT_HELLO) return { fault: "does not begin with a ClientHello" }
    const wanted = 4 + start.readUIntBE(1, 3)
    if (wanted > MOST_HELLO_BYTES) return { fault: "is larger than 32 KiB" }
    if (length > wanted) return { fault: "goes on after its ClientHello" }
    if (length === wanted) return parse(Buffer.concat(fragments).subarray(4))
  }
}

function needs(count: number): HelloReading {
  return count > MOST_HELLO_BYTES + MOST_RECORDS * 5 ? { fault: "is larger than 32 KiB" } : { needs: count }
}

function parse(body: Buffer): HelloReading {
  try {
    return { hello: parseBody(new Fields(body)) }
  } catch (error) {
    if (error instanceof RangeError) return { fault: "has a ClientHello that is cut or too long" }
    throw error
  }
}

function parseBody(fields: Fields): ClientHello {
  // The version, and random bytes.
  fields.take(2 + 32)
  if (fields.vector(1).length > 32) throw new RangeError()
  const suites = fields.vector(2).length
  if (suites < 2 || suites % 2 !== 0 || fields.vector(1).length === 0) throw new RangeError()
  if (fields.isEmpty) return { names: undefined, isEncrypted: false }
  const extensions = new Fields(fields.vector(2))
  fields.expectEnd()
  const seen = new Map<number, Buffer>()
  while (!extensions.isEmpty) {
    const type = extensions.number(2)
    // A server could look at either.
    if (seen.has(type)) throw new RangeError()
    seen.set(type, extensions.vector(2))
  }
  const names = seen.get(SERVER_NAME)
  return {
    names: names && parseNames(names),
    isEncrypted: ENCRYPTED.some((type) => seen.has(type)),
  }
}

function parseNames(extension: Buffer): readonly string[] {
  const outer = new Fields(extension)
  const list = new Fields(outer.vector(2))
  outer.expectEnd()
  const names: string[] = []
  while (!list.isEmpty) {
    if (list.number(1) !== HOST_NAME) throw new RangeError()
    names.push(list.vector(2).toString("latin1"))
  }
  return names
}

/** Reads fields one after the other; throws RangeError beyond the end. */
class Fields {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get isEmpty(): boolean {
    return this.#at === this.#bytes.length
  }

  take(count: number): Buffer {
    if (this.#at + count > this.#bytes.length) throw new RangeError()
    this.#at += count
    return this.#bytes.subarray(this.#at - count, this.#at)
  }

  number(width: number): number {
    return this.take(width).readUIntBE(0, width)
  }

  /** Bytes with their length in front. */
  vector(width: number): Buffer {
    return this.take(this.number(width))
  }

  expectEnd(): void {
    if (!this.isEmpty) throw new RangeError()
  }
}
