import { z } from "zod"

/** How long and how often a client tries. */
export interface ClientSettings {
  /** Deadline of a whole call, with its retries and its stream. @default 600_000 */
  readonly timeoutMs?: number | undefined
  /** The longest silence within a stream that has begun. @default 120_000 */
  readonly idleTimeoutMs?: number | undefined
  /** How often a call is tried again after 408, 409, 429, 5xx or a lost connection. @default 3 */
  readonly maxRetries?: number | undefined
  /** The first pause before a retry; it doubles each time. `Retry-After` comes first. @default 500 */
  readonly retryDelayMs?: number | undefined
}

// Longer timers would fire at once.
const MAX_TIMER_MS = 2_147_483_647

const duration = z.int().positive().max(MAX_TIMER_MS)

/** The options of every client; spread into the schema of each. */
export const clientSettingsShape = {
  timeoutMs: duration.default(600_000),
  idleTimeoutMs: duration.default(120_000),
  maxRetries: z.int().nonnegative().max(100).default(3),
  retryDelayMs: z.int().nonnegative().max(MAX_TIMER_MS).default(500),
}

export type ReadClientSettings = Required<{ readonly [Name in keyof ClientSettings]: number }>
