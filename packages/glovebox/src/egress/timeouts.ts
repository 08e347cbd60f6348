/** How long the gate waits, in milliseconds. */
export const timeouts = {
  /** For all of a request's head, or for the first words in a connection. */
  head: 10_000,
  /** For a client to take its answer. */
  leave: 2000,
  lookup: 10_000,
  /** For all addresses of a host together. */
  dial: 10_000,
} as const
