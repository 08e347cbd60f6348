import { GloveboxError } from "../../../core/glovebox-error.ts"
import { MESSAGE_METADATA } from "../wire/metadata-names.ts"
import type { RpcRequest } from "../wire/wire-message.ts"
import type { WriteOutcome } from "./outbox.ts"
import type { Parcel, RequestParcel } from "./parcel.ts"
import type { WorkerSession } from "./worker-session.ts"

/** Hands a parcel to the worker's connection; false when that has no room just now. */
export function writeParcel(session: WorkerSession, parcel: Parcel): WriteOutcome {
  const { link } = session
  if (!link) return false
  try {
    if (parcel.kind === "event") {
      const { encoded, event, targets } = parcel
      link.send({ cloudEvent: event, targets }, { content: encoded.bytes })
      return true
    }
    const onWritten = (): void => {
      parcel.isWritten = true
    }
    link.send({ request: forwarded(parcel) }, { onWritten })
    session.began(parcel)
    return true
  } catch (error) {
    if (GloveboxError.is(error, "MESSAGE_TOO_LARGE")) return error
    // Full, or closed: then the session is about to end, and what waits goes elsewhere.
    return false
  }
}

function forwarded({ chain, hopId, request, deadline, readAt }: RequestParcel): RpcRequest {
  const { source, target, method, payload } = request
  let { metadata } = request
  if (chain !== (metadata?.[MESSAGE_METADATA.chain] ?? "")) {
    metadata = { ...metadata, [MESSAGE_METADATA.chain]: chain }
  }
  // What waited here has less time left.
  if (metadata?.[MESSAGE_METADATA.timeoutMs] !== undefined) {
    const now = performance.now()
    if (now - readAt >= 1) {
      metadata = { ...metadata, [MESSAGE_METADATA.timeoutMs]: String(Math.max(1, Math.ceil(deadline - now))) }
    }
  }
  return { request_id: hopId, source, target, method, payload, metadata }
}
