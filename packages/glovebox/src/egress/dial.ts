import { type Socket, connect } from "node:net"
import { watchAbort } from "../internal/watch-abort.ts"
import { Refusal } from "./refusal.ts"
import { timeouts } from "./timeouts.ts"

export interface DialOptions {
  /** Literal addresses, tried one after the other. */
  readonly addresses: readonly string[]
  readonly port: number
  /** What is told of it. */
  readonly asked: string
  readonly rule: string
  readonly signal: AbortSignal
}

/** Connects to the first of the addresses that answers. Throws Refusal, or the signal's reason. */
export async function dial(
  options: DialOptions,
): Promise<{ readonly socket: Socket; readonly address: string }> {
  const { addresses, port, asked, rule, signal } = options
  let failure = ""
  for (const [at, address] of addresses.entries()) {
    // All together take no longer than one may.
    const outcome = await dialOne(address, port, timeouts.dial / addresses.length, signal)
    // It may have come in the same moment in which nobody wants it any more.
    if (signal.aborted && typeof outcome !== "string") outcome.resetAndDestroy()
    signal.throwIfAborted()
    if (typeof outcome !== "string") return { socket: outcome, address }
    failure = at === 0 || failure === outcome ? outcome : `${failure}, ${outcome}`
  }
  throw new Refusal(
    "CONNECT_FAILED",
    `${asked} is allowed, but did not answer (${failure}).`,
    `Check that ${asked} is up, or try again later.`,
    { rule, isTimeout: failure.endsWith(TIMED_OUT) },
  )
}

const TIMED_OUT = "ETIMEDOUT"

/** The socket, or why there is none. */
function dialOne(
  address: string,
  port: number,
  timeout: number,
  signal: AbortSignal,
): Promise<Socket | string> {
  return new Promise((resolve) => {
    // The address and never the name: what was looked at is what is dialled.
    const socket = connect({ host: address, port, allowHalfOpen: true, noDelay: true })
    let isSettled = false
    const settle = (outcome: Socket | string): void => {
      if (isSettled) return
      isSettled = true
      clearTimeout(timer)
      unwatch()
      if (outcome !== socket) socket.destroy()
      resolve(outcome)
    }
    const timer = setTimeout(() => settle(TIMED_OUT), timeout)
    const unwatch = watchAbort(signal, () => setImmediate(() => settle("aborted")))
    socket.once("connect", () => settle(socket))
    socket.on("error", (error: NodeJS.ErrnoException) => settle(error.code ?? "failed"))
  })
}
