/** How many sandboxes an executor has at this moment. */
export interface PoolState {
  /** Those that wait for a run. */
  readonly ready: number
  /** Those that a run uses, or that a session keeps. */
  readonly busy: number
  /** How many are meant to wait. */
  readonly size: number
}
