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
const TAKEN_AT_ONCE = 32

export interface TunnelOptions {
  /** Writes the parts of a frame to the agent; resolves when there is room for more. */
  readonly write: (parts: readonly Buffer[]) => Promise<void> | undefined
  /** Takes a connection that a program made. */
  readonly accept: (client: Duplex) => void
}

/** A connection of which the agent has not said its last word. */
interface Held {
  /** Made when there is something to do with it. */
  stream: TunnelStream | undefined
  hasAgentEnded: boolean
  hasHostEnded: boolean
}

/** The connections of a sandbox's programs, which come over the agent's stream. The sender may be hostile. */
export class Tunnel {
  readonly #options: TunnelOptions
  readonly #held = new Map<number, Held>()
  // Those that wait to be taken: a flood of them must not keep this process from all else.
  readonly #waiting = new Set<number>()
  #highest = 0
  #isClosed = false
  #isTaking = false

  constructor(options: TunnelOptions) {
    this.#options = options
  }

  /** Throws SANDBOX_BROKEN on what no agent sends. */
  onFrame(payload: Buffer): void {
    if (payload.length < HEADER_BYTES) throw broken("a part of a connection without its number")
    const id = payload.readUInt32BE(0)
    const operation = String.fromCharCode(payload[4]!)
    if (operation === "o") return this.#open(id)
    if (id === 0 || id > this.#highest) throw broken("a part of a connection that was never made")
    const data = payload.subarray(HEADER_BYTES)
    const held = this.#held.get(id)
    if (operation === "r") this.#onReset(id, held)
    else if (operation === "e") this.#onEnd(id, held)
    else if (operation === "d") this.#onData(id, held, data)
    else if (operation === "w" && data.length === 4) this.#onWindow(held, data.readUInt32BE(0))
    else throw broken("a part of a connection of an unknown kind")
  }

  /** Ends every connection. */
  close(): void {
    this.#isClosed = true
    this.#waiting.clear()
    for (const { stream } of this.#held.values()) stream?.destroy()
    this.#held.clear()
  }

  #open(id: number): void {
    if (id !== this.#highest + 1) throw broken("a connection out of order")
    if (this.#held.size >= MOST_STREAMS) throw broken("more connections than it may have")
    this.#highest = id
    if (this.#isClosed) return
    this.#held.set(id, { stream: undefined, hasAgentEnded: false, hasHostEnded: false })
    this.#waiting.add(id)
    this.#takeSoon()
  }

  #onData(id: number, held: Held | undefined, data: Buffer): void {
    // One that was ended here while the frame was on its way.
    if (!held) return
    const stream = held.stream ?? this.#take(id, held)
    if (held.hasAgentEnded || (!stream.destroyed && !stream.receive(data)))
      throw broken("more of a connection than it may send")
  }

  #onEnd(id: number, held: Held | undefined): void {
    if (!held) return
    const stream = held.stream ?? this.#take(id, held)
    held.hasAgentEnded = true
    if (!stream.destroyed) stream.receiveEnd()
    this.#settle(id, held)
  }

  #onReset(id: number, held: Held | undefined): void {
    this.#held.delete(id)
    this.#waiting.delete(id)
    held?.stream?.receiveReset()
  }

  #onWindow(held: Held | undefined, bytes: number): void {
    if (bytes > MOST_CREDIT) throw broken("a window of a connection that is too large")
    held?.stream?.addCredit(bytes)
  }

  // A few in each turn, so that timers, and with them the deadline of the run, have theirs.
  #takeSoon(): void {
    if (this.#isTaking) return
    this.#isTaking = true
    setImmediate(() => {
      this.#isTaking = false
      for (const id of [...this.#waiting].slice(0, TAKEN_AT_ONCE)) this.#take(id, this.#held.get(id)!)
      if (this.#waiting.size > 0) this.#takeSoon()
    })
  }

  #take(id: number, held: Held): TunnelStream {
    this.#waiting.delete(id)
    const stream = new TunnelStream({
      send: (operation, data) => {
        if (operation === "e") {
          held.hasHostEnded = true
          this.#settle(id, held)
        }
        return this.#send(id, operation, data)
      },
    })
    held.stream = stream
    // Whoever takes it sees its end; an error here is the sandbox's, and no one else's.
    stream.on("error", () => {})
    this.#options.accept(stream)
    return stream
  }

  // Both have ended; a reset from here has to be answered with one.
  #settle(id: number, { hasAgentEnded, hasHostEnded }: Held): void {
    if (hasAgentEnded && hasHostEnded) this.#held.delete(id)
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
