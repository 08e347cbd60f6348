import { Metadata } from "@grpc/grpc-js"
import { CALL_METADATA, LINK_VERSION } from "../wire/metadata-names.ts"
import type { HostSettings } from "./host-options.ts"
import type { WorkerSession } from "./worker-session.ts"

const MAX_CLIENT_ID = 256
const MAX_CREDITS = 100_000
const DEFAULT_CREDITS = 1000

/** What a client says of itself with each call. */
export interface CallMetadata {
  readonly clientId: string | undefined
  readonly authorization: string | undefined
  readonly secret: string | undefined
  readonly isLink: boolean
  readonly received: number
  readonly credits: number
  readonly maxMessageBytes: number | undefined
}

export function readCallMetadata(metadata: Metadata): CallMetadata {
  const clientId = text(metadata, CALL_METADATA.clientId)
  return {
    clientId: clientId !== undefined && clientId.length <= MAX_CLIENT_ID ? clientId : undefined,
    authorization: text(metadata, CALL_METADATA.authorization),
    secret: text(metadata, CALL_METADATA.session),
    isLink: text(metadata, CALL_METADATA.link) === LINK_VERSION,
    received: integer(metadata, CALL_METADATA.received) ?? 0,
    credits: Math.min(integer(metadata, CALL_METADATA.credits) || DEFAULT_CREDITS, MAX_CREDITS),
    maxMessageBytes: integer(metadata, CALL_METADATA.maxMessage) || undefined,
  }
}

/** The host's part of the handshake; AutoGen's workers only wait for it to come. */
export function channelAnswer(session: WorkerSession, settings: HostSettings, isResumed: boolean): Metadata {
  const metadata = new Metadata()
  if (!session.isLink) return metadata
  metadata.set(CALL_METADATA.link, LINK_VERSION)
  metadata.set(CALL_METADATA.session, session.secret)
  metadata.set(CALL_METADATA.resumed, isResumed ? "1" : "0")
  metadata.set(CALL_METADATA.received, String(session.link?.received ?? 0))
  metadata.set(CALL_METADATA.graceMs, String(settings.graceMs))
  metadata.set(CALL_METADATA.heartbeatMs, String(settings.heartbeatMs))
  metadata.set(CALL_METADATA.maxMessage, String(settings.maxMessageBytes))
  return metadata
}

function text(metadata: Metadata, name: string): string | undefined {
  const [value] = metadata.get(name)
  return typeof value === "string" && value !== "" ? value : undefined
}

function integer(metadata: Metadata, name: string): number | undefined {
  const value = Number(text(metadata, name))
  return Number.isSafeInteger(value) && value >= 0 ? value : undefined
}
