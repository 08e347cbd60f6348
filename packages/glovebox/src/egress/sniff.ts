import type { ByteStream } from "./byte-stream.ts"

const HANDSHAKE = 22
const METHOD = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,32} /
const PART_OF_METHOD = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}$/

/** What a client begins to speak, which stays to be read; undefined when it ends without a word. */
export async function sniff(stream: ByteStream): Promise<"tls" | "http" | "raw" | undefined> {
  let bytes: Buffer = Buffer.alloc(0)
  for (;;) {
    const chunk = await stream.read()
    if (!chunk && bytes.length === 0) return undefined
    if (chunk) bytes = Buffer.concat([bytes, chunk])
    const text = bytes.subarray(0, 40).toString("latin1")
    const kind = bytes[0] === HANDSHAKE ? "tls" : METHOD.test(text) ? "http" : "raw"
    if (chunk && kind === "raw" && PART_OF_METHOD.test(text)) continue
    stream.unread(bytes)
    return kind
  }
}
