import type { Duplex } from "node:stream"
import { broken } from "./agent-frames.ts"
import { TunnelStream } from "./tunnel-stream.ts"

/** Where programs in a sandbox find the way out, on a loopback of their own. */
export const TUNNEL_PORT = 3128

const FRAME_HEADER_BYTES = 5
const HEADER_BYTES = 5
// The agent itself takes fewer; more were not sent by it.
const MOST_STREAMS = 4096
// What the sandbox may be sent at most: its window.
const MOST_CREDIT = 2 ** 30

export interface TunnelOptions {
  /** Writes the parts of a frame to the agent; resolves when there is room for more. */
  readonly write: (parts: readonly Buffer[]) => Promise<void> | undefined
  /** Takes a connection that a program made. */
  readonly accept: (client: Duplex) => void
}

/** The connections of a sandbox's programs, which come over the agent's stream. The sender may be hostile. */
export class Tunnel {
  readonly #options: TunnelOptions
  readonly #streams = new Map<number, TunnelStream>()
  #highest = 0
  #isClosed = false

  constructor(options: TunnelOptions) {
    this.#options = options
  }

  /** Throws SANDBOX_BROKEN on what no agent sends. */
  onFrame(payload: Buffer): void {
    if (payload.length < HEADER_BYTES) throw broken("a part of a connection without its number")
    const id = payload.readUInt32BE(0)
    const operation = String.fromCharCode(payload[4]!)
    const data = payload.subarray(HEADER_BYTES)
    if (operation === "o") return this.#open(id)
    if (id === 0 || id > this.#highest) throw broken("a part of a connection that was never made")
    // One that was ended here while the frame was on its way.
    const stream = this.#streams.get(id)
    if (operation === "d") {
      if (stream && !stream.destroyed && !stream.receive(data))
        throw broken("more of a connection than it may send")
    } else if (operation === "e") stream?.receiveEnd()
    else if (operation === "r") stream?.receiveReset()
    else if (operation === "w" && data.length === 4) {
      const bytes = data.readUInt32BE(0)
      if (bytes > MOST_CREDIT) throw broken("a window of a connection that is too large")
      stream?.addCredit(bytes)
    } else throw broken("a part of a connection of an unknown kind")
  }

  /** Ends every connection. */
  close(): void {
    this.#isClosed = true
    for (const stream of this.#streams.values()) stream.destroy()
  }

  #open(id: number): void {
    if (id !== this.#highest + 1) throw broken("a connection out of order")
    if (this.#streams.size >= MOST_STREAMS) throw broken("more connections than it may have")
    this.#highest = id
    const stream = new TunnelStream({
      send: (operation, data) => this.#send(id, operation, data),
      onGone: () => this.#streams.delete(id),
    })
    // Whoever takes it sees its end; an error here is the sandbox's, and no one else's.
    stream.on("error", () => {})
    this.#streams.set(id, stream)
    if (this.#isClosed) stream.destroy()
    else this.#options.accept(stream)
  }

  #send(id: number, operation: string, data?: Buffer): Promise<void> | undefined {
    if (this.#isClosed) return undefined
    const header = Buffer.alloc(FRAME_HEADER_BYTES + HEADER_BYTES)
    header.write("T", 0, "latin1")
    header.writeUInt32BE(HEADER_BYTES + (data?.length ?? 0), 1)
    header.writeUInt32BE(id, FRAME_HEADER_BYTES)
    header.write(operation, FRAME_HEADER_BYTES + 4, "latin1")
    return this.#options.write(data ? [header, data] : [header])
  }
}
