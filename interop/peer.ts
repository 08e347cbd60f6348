import type { EventLog } from "./event-log.ts"

/** A message by its name and fields, as both languages have it. */
export interface PlainMessage {
  readonly type: string
  readonly message: unknown
}

export interface PeerSendOptions {
  readonly sender?: string | undefined
  /** AutoGen's workers have none: they wait for as long as the host lets them. */
  readonly timeoutMs?: number | undefined
}

/** A worker of either language with the same agents, all of whose types begin with its name. */
export interface Peer extends AsyncDisposable {
  readonly name: string
  readonly language: "python" | "typescript"
  /** `heard` of its listeners, `waiting` of an agent that was told to wait. */
  readonly events: EventLog
  send(message: PlainMessage, to: string, options?: PeerSendOptions): Promise<PlainMessage>
  publish(message: PlainMessage, topic: string, options?: { readonly sender?: string }): Promise<void>
  /** Registers one more echo. */
  registerEcho(type: string): Promise<void>
}

export function ask(text: string): PlainMessage {
  return { type: "Ask", message: { text, details: [{ level: 1, note: null }] } }
}
