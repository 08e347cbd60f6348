/** Something that a runtime waits for elsewhere: until it has ended, the runtime is not idle. */
export interface OutgoingWork {
  /** Ends it now. */
  cancel(reason: unknown): void
}
