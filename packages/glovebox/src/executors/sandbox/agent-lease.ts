/** Beyond this an idle agent takes its host for dead; a session's host calls in between. */
export const AGENT_LEASE_MS = 15 * 60_000
