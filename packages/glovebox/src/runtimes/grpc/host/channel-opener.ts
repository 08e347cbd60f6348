import type { LinkStream } from "../link/link-stream.ts"
import type { CallMetadata } from "./call-metadata.ts"
import { type CallRefusal, refuse } from "./call-refusal.ts"
import type { HostSettings } from "./host-options.ts"
import type { ChannelTerms, Switchboard } from "./switchboard.ts"
import type { WorkerSession } from "./worker-session.ts"
import type { Grant } from "../security/index.ts"

export interface OpenedChannel {
  readonly session: WorkerSession
  readonly isResumed: boolean
}

/** Gives a stream to the client that it is of, or says why not. */
export function openChannel(
  board: Switchboard,
  settings: HostSettings,
  { clientId, grant, call, stream }: ChannelRequest,
): OpenedChannel | CallRefusal {
  const { isLink, credits, maxMessageBytes = settings.maxMessageBytes, secret, received } = call
  const terms: ChannelTerms = { isLink, credits, maxMessageBytes }
  let session = board.sessions.get(clientId)
  if (session && session.state !== "unopened") {
    const refusal = mayReplace(session, call)
    if (refusal) return refusal
    if (session.hasSecret(secret) && board.resume(session, stream, received, terms)) {
      session.grant = grant
      return { session, isResumed: true }
    }
    // It never learned its secret, or its numbers are not ours: it begins anew.
    board.end(session, "lost")
    session = undefined
  }
  if (secret !== undefined) board.settle()
  session ??= board.sessions.create(clientId)
  session.grant = grant
  board.open(session, stream, terms)
  return { session, isResumed: false }
}

export interface ChannelRequest {
  readonly clientId: string
  readonly grant: Grant
  readonly call: CallMetadata
  readonly stream: LinkStream
}

function mayReplace(session: WorkerSession, { isLink, secret }: CallMetadata): CallRefusal | undefined {
  if (!session.isLink) return refuse("ALREADY_EXISTS", "A channel of this client id is open.")
  if (isLink && session.hasSecret(secret)) return undefined
  if (isLink && !session.isConfirmed && secret === undefined) return undefined
  return refuse(
    "PERMISSION_DENIED",
    "This client id is in use, and the call does not have the secret of its session.",
  )
}
