import type { ClientDuplexStream, Metadata } from "@grpc/grpc-js"
import { watchAbort } from "../../../internal/watch-abort.ts"
import { CALL_METADATA, LINK_VERSION } from "../wire/metadata-names.ts"
import type { AgentRpcClient } from "../wire/service.ts"

/** What a host of ours says when a worker connects. */
export interface HostHello {
  readonly session: string
  readonly isResumed: boolean
  /** How much of what this worker sent it has. */
  readonly received: number
  readonly graceMs: number
  readonly heartbeatMs: number
  readonly maxMessageBytes: number
}

export interface OpenedChannel {
  readonly stream: ClientDuplexStream<Buffer, Buffer>
  /** Undefined for a host of AutoGen. */
  readonly hello: HostHello | undefined
}

// A host of ours says hello at once; AutoGen's says nothing before its first message, but answers other calls.
const HELLO_MS = 100
const LATE_HELLO_MS = 250

/** Opens the message channel, and finds out what kind of host is there. */
export async function openChannel(
  client: AgentRpcClient,
  metadata: Metadata,
  signal: AbortSignal,
): Promise<OpenedChannel> {
  signal.throwIfAborted()
  const stream = client.openChannel(metadata)
  // Whoever has the stream later has its own; an error without any listener would end the process.
  stream.on("error", () => {})
  let timer: NodeJS.Timeout | undefined
  let unwatch: (() => void) | undefined
  try {
    return await new Promise<OpenedChannel>((resolve, reject) => {
      const plain = (): void => resolve({ stream, hello: undefined })
      stream.once("metadata", (answer: Metadata) => resolve({ stream, hello: helloOf(answer) }))
      stream.once("error", reject)
      stream.once("end", () => reject(new Error("The host ended the channel.")))
      unwatch = watchAbort(signal, reject)
      const ask = async (): Promise<void> => {
        try {
          await client.getSubscriptions(metadata, { signal })
          timer = setTimeout(plain, LATE_HELLO_MS)
        } catch {
          // The channel itself tells what is wrong.
        }
      }
      timer = setTimeout(() => void ask(), HELLO_MS)
    })
  } catch (error) {
    stream.cancel()
    throw error
  } finally {
    clearTimeout(timer)
    unwatch?.()
  }
}

function helloOf(metadata: Metadata): HostHello | undefined {
  const text = (name: string): string => String(metadata.get(name)[0] ?? "")
  const number = (name: string, otherwise: number): number => {
    const value = Number(text(name))
    return text(name) !== "" && Number.isFinite(value) && value >= 0 ? value : otherwise
  }
  if (text(CALL_METADATA.link) !== LINK_VERSION) return undefined
  const graceMs = number(CALL_METADATA.graceMs, 5000)
  const heartbeatMs = number(CALL_METADATA.heartbeatMs, 1000)
  return {
    session: text(CALL_METADATA.session),
    isResumed: text(CALL_METADATA.resumed) === "1",
    received: number(CALL_METADATA.received, 0),
    graceMs,
    // The host must be heard several times within the grace time, however seldom it asks itself.
    heartbeatMs: Math.max(1, Math.min(heartbeatMs, graceMs / 4)),
    maxMessageBytes: number(CALL_METADATA.maxMessage, 4 * 1024 * 1024),
  }
}
