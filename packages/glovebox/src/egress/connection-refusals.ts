import type { EgressDenialCode, EgressEnd } from "./egress-event.ts"
import { Refusal } from "./refusal.ts"
import { timeouts } from "./timeouts.ts"

const ENDS: Partial<Record<EgressDenialCode, EgressEnd>> = {
  NAME_NOT_FOUND: "error",
  CONNECT_FAILED: "error",
  TLS_UNTRUSTED: "error",
  BUDGET: "budget",
  HEADER_TIMEOUT: "idle",
  IDLE: "idle",
}

/** What ended a connection that was refused so. */
export function endOf(code: EgressDenialCode): EgressEnd {
  return ENDS[code] ?? "policy"
}

export function tooMany(connections: number): Refusal {
  return new Refusal(
    "TOO_MANY_CONNECTIONS",
    `${connections} connections are open, and no more may be.`,
    "Close connections that are not needed, or make fewer at a time.",
  )
}

export function late(rule: string | undefined): Refusal {
  return new Refusal(
    "HEADER_TIMEOUT",
    `The client did not say within ${timeouts.head / 1000} s what it wants.`,
    "Send the request at once; for a server that speaks first, ask for the rule to have protocol: tcp.",
    { rule },
  )
}

export function idled(idle: number, rule: string): Refusal {
  return new Refusal(
    "IDLE",
    `Nothing moved on the connection for ${idle / 1000} s.`,
    "Make a new connection when there is something to send, or ask for a longer network.idle.",
    { rule },
  )
}

export function tightened(rule: string): Refusal {
  return new Refusal(
    "POLICY_TIGHTENED",
    "The policy was tightened, and no longer allows this connection.",
    "Do without it.",
    { rule },
  )
}
