import type { OutgoingCall } from "./outgoing-call.ts"

/** True once a handler waits for the send; false when it ends before, or has ended. */
export async function waitedFor(call: OutgoingCall | undefined): Promise<boolean> {
  if (!call) return false
  return await new Promise<boolean>((resolve) => {
    call.onWaiter(() => resolve(true))
    call.onEnd(() => resolve(false))
  })
}
