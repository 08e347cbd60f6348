import { GloveboxError } from "../../../core/index.ts"

/** What a tenant has no more of at this moment; "capacity" is that of its engines. */
export type FleetQuota = "capacity" | "concurrentRuns" | "cpuSeconds" | "runsPerMinute" | "sessions"

export interface TryLaterDetails {
  readonly tenant: string
  readonly quota: FleetQuota
  readonly retryAfterMs: number
}

/** A fleet takes no more of this tenant's work now, and says when to come again. Nothing of the call has run. */
export class TryLaterError extends GloveboxError {
  readonly tenant: string
  readonly quota: FleetQuota
  /** When there may be room: exact for rates, an estimate for everything else. */
  readonly retryAfterMs: number

  constructor(why: string, { tenant, quota, retryAfterMs }: TryLaterDetails) {
    const after = Math.max(1, Math.ceil(retryAfterMs))
    super("TRY_LATER", `${why} Try again in ${after} ms.`)
    this.tenant = tenant
    this.quota = quota
    this.retryAfterMs = after
  }
}
