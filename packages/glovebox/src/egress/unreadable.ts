import { Refusal } from "./refusal.ts"

/** What to say of an answer in which a secret could be hidden. */
export function unreadable(what: string): Refusal {
  return new Refusal(
    "SECRET_HIDDEN",
    `A secret may go to this server, and its answer ${what}, so whether the secret is in it cannot be seen.`,
    "Use another request that is answered as plain text, or ask for the secret not to be sent to this host.",
  )
}
