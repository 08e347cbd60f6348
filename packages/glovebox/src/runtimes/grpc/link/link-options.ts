import type { GloveboxError } from "../../../core/glovebox-error.ts"
import type { WireMessage } from "../wire/wire-message.ts"

export interface LinkOptions {
  /** Gets each request, response, event and notice once and in order. What it throws ends the stream. */
  onMessage(message: WireMessage): void
  /** The stream ended, broke, fell silent, or `detach` dropped it. Not called by `attach`, `reset` and `close`. */
  onDetached(cause: unknown): void
  /** The queue was full, and has room again. */
  onRoom?(): void
  /** A message waited when a stream came whose other side takes less: it will not be sent. */
  onTooLarge?(message: WireMessage, error: GloveboxError): void
  readonly heartbeatMs: number
  /** Frames that may wait to be written; those written and not acknowledged do not count. */
  readonly maxQueued: number
  readonly maxQueuedBytes: number
  /** The largest message that the other side takes, as far as known before `attach`. @default 4 MiB */
  readonly maxMessageBytes?: number | undefined
  /** The largest message taken from the other side. @default 64 MiB */
  readonly maxReceivedBytes?: number | undefined
  /** Acknowledges events without delay, for a publisher that waits for it. @default false */
  readonly acksEventsAtOnce?: boolean | undefined
  /** The other side is AutoGen's: no numbers, no beats, no batches, and nothing to resume. @default false */
  readonly isPlain?: boolean | undefined
}

export interface AttachOptions {
  /** What the other side said that it takes. */
  readonly maxMessageBytes?: number | undefined
  readonly heartbeatMs?: number | undefined
}

export interface SendOptions {
  /** Called when a stream took the frame, which may be long before it is received. */
  readonly onWritten?: (() => void) | undefined
  /** The bytes of the message without its targets, where they are there already. */
  readonly content?: Buffer | undefined
  /** Passes a full queue. @default true for responses and notices */
  readonly isUrgent?: boolean | undefined
}

/** A frame that the other side did not acknowledge. */
export interface Unacknowledged {
  readonly seq: number
  readonly message: WireMessage
  /** Whether a stream ever took it, so that the other side may have it. */
  readonly isWritten: boolean
}
