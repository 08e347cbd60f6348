import { type ByteStream, StreamGone } from "./byte-stream.ts"
import { ChunkedDecoder, LAST_CHUNK, encodeChunk } from "./chunked-decoder.ts"
import type { RequestFraming } from "./request-framing.ts"
import { MOST_HEAD_BYTES } from "./request-head.ts"

/** Thrown when the next byte would be more than the rule allows. */
export class OverBudget extends Error {
  override readonly name = "OverBudget"
}

/** Says how many of the bytes may pass, and counts those. */
type Take = (direction: "up" | "down", bytes: number) => number

export interface RelayOptions {
  readonly client: ByteStream
  readonly server: ByteStream
  readonly take: Take
}

/** Passes bytes both ways until both sides have ended; says which was first. Throws StreamGone or OverBudget. */
export async function relayRaw({ client, server, take }: RelayOptions): Promise<"client" | "server"> {
  let first: "client" | "server" | undefined
  const up = pump(client, server, (bytes) => take("up", bytes), { onEnd: () => (first ??= "client") })
  const down = pump(server, client, (bytes) => take("down", bytes), { onEnd: () => (first ??= "server") })
  await Promise.all([up, down])
  return first ?? "client"
}

export interface HttpRelayOptions extends RelayOptions {
  /** As the server gets it. */
  readonly head: Buffer
  readonly framing: RequestFraming
  readonly isUpgrade: boolean
  /** What becomes of the server's bytes on their way down. @default nothing */
  readonly filter?: AnswerFilter | undefined
}

interface AnswerFilter {
  push(bytes: Buffer): Buffer
  end(): Buffer
}

/**
 * Passes one request up, and all that the server says down. Nothing after the request goes up, unless the server has
 * agreed to another protocol. Throws StreamGone, OverBudget, or Refusal for a body that is not what its head says, or
 * what the filter throws.
 */
export async function relayHttp(options: HttpRelayOptions): Promise<"server"> {
  const { client, server, take, head, framing, isUpgrade, filter } = options
  const [takeUp, takeDown] = [
    (bytes: number): number => take("up", bytes),
    (bytes: number): number => take("down", bytes),
  ]
  const upgraded = isUpgrade ? passUpToUpgrade(server, client, takeDown, filter) : Promise.resolve(false)
  const goUp = async (): Promise<void> => {
    await passRequest({ client, server, takeUp, head, framing })
    if (await upgraded) await pump(client, server, takeUp)
  }
  const up = goUp()
  const goDown = async (): Promise<void> => {
    const hasTwoWays = await upgraded
    await pump(server, client, takeDown, { filter })
    if (hasTwoWays) await up
  }
  const failed = new Promise<never>((_resolve, reject) => {
    up.catch((error: unknown) => {
      // A server may answer, and close, before it has read everything.
      if (!(error instanceof StreamGone && error.stream === server)) reject(error)
    })
  })
  await Promise.race([goDown(), failed])
  return "server"
}

interface RequestParts {
  readonly client: ByteStream
  readonly server: ByteStream
  readonly takeUp: (bytes: number) => number
  readonly head: Buffer
  readonly framing: RequestFraming
}

async function passRequest({ client, server, takeUp, head, framing }: RequestParts): Promise<void> {
  await pass(server, head, takeUp)
  if (framing.kind === "chunked") return passChunks(client, server, takeUp)
  for (let left = framing.length; left > 0;) {
    const chunk = await client.read()
    if (!chunk) throw new StreamGone(client)
    const piece = chunk.subarray(0, left)
    client.unread(chunk.subarray(piece.length))
    left -= piece.length
    await pass(server, piece, takeUp)
  }
}

async function passChunks(
  client: ByteStream,
  server: ByteStream,
  takeUp: (bytes: number) => number,
): Promise<void> {
  const decoder = new ChunkedDecoder()
  for (;;) {
    const bytes = await client.read()
    if (!bytes) throw new StreamGone(client)
    const { data, rest } = decoder.decode(bytes)
    if (data.length > 0) await pass(server, encodeChunk(data), takeUp)
    if (!rest) continue
    client.unread(rest)
    return pass(server, LAST_CHUNK, takeUp)
  }
}

/** Passes the server's heads up to the one that counts; whether that agrees to the upgrade. */
async function passUpToUpgrade(
  server: ByteStream,
  client: ByteStream,
  takeDown: (bytes: number) => number,
  filter: AnswerFilter | undefined,
): Promise<boolean> {
  for (;;) {
    let bytes: Buffer = Buffer.alloc(0)
    let end = -1
    while (end < 0 && bytes.length <= MOST_HEAD_BYTES) {
      const chunk = await server.read()
      if (!chunk) break
      bytes = Buffer.concat([bytes, chunk])
      end = bytes.indexOf("\r\n\r\n")
    }
    const head = end < 0 ? bytes : bytes.subarray(0, end + 4)
    server.unread(bytes.subarray(head.length))
    await pass(client, filter ? filter.push(head) : head, takeDown)
    const status = /^HTTP\/1\.1 (1\d\d)/.exec(head.toString("latin1"))?.[1]
    if (end < 0 || status === undefined) return false
    if (status === "101") return true
  }
}

async function pump(
  from: ByteStream,
  to: ByteStream,
  take: (bytes: number) => number,
  { onEnd, filter }: { readonly onEnd?: () => void; readonly filter?: AnswerFilter | undefined } = {},
): Promise<void> {
  for (;;) {
    const chunk = await from.read()
    if (!chunk) break
    await pass(to, filter ? filter.push(chunk) : chunk, take)
  }
  if (filter) await pass(to, filter.end(), take)
  onEnd?.()
  // The other direction goes on.
  await to.finish()
}

async function pass(to: ByteStream, bytes: Buffer, take: (bytes: number) => number): Promise<void> {
  if (bytes.length === 0) return
  const granted = take(bytes.length)
  if (granted > 0) await to.write(bytes.subarray(0, granted))
  if (granted === bytes.length) return
  await to.flush()
  throw new OverBudget()
}
