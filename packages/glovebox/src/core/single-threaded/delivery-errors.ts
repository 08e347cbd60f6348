import { formatAgentId } from "../agent-id.ts"
import { GloveboxError } from "../glovebox-error.ts"
import type { Mailbox } from "./mailbox.ts"

export function droppedError(reason: string | undefined): GloveboxError {
  return new GloveboxError(
    "MESSAGE_DROPPED",
    `An intervention dropped the message${reason === undefined ? "" : `: ${reason}`}. It was not delivered.`,
  )
}

export function mailboxFullError(mailbox: Mailbox, isFutile: boolean): GloveboxError {
  const { capacity } = mailbox.registration.mailbox
  const remedy = isFutile
    ? "Waiting for room would never end, because that agent waits for this one"
    : `Send less, wait with whenFull: "wait", or raise mailbox.capacity`
  return new GloveboxError(
    "MAILBOX_FULL",
    `${capacity} messages wait for agent ${formatAgentId(mailbox.id)}, which is its limit. ${remedy}.`,
  )
}

export function timeoutError(mailbox: Mailbox, timeoutMs: number): GloveboxError {
  return new GloveboxError(
    "SEND_TIMEOUT",
    `Agent ${formatAgentId(mailbox.id)} gave no reply within ${timeoutMs} ms. Raise timeoutMs, or look at what the agent waits for.`,
  )
}
