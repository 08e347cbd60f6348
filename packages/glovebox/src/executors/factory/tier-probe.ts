/** Whether a kind of sandbox works on this machine. */
export interface TierProbe {
  readonly isAvailable: boolean
  /** What was seen, without a full stop. */
  readonly detail: string
  /** What to do when it does not work. */
  readonly remedy?: string | undefined
}
