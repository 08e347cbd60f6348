/** A secret whose value an executor has read. */
export interface KnownSecret {
  readonly name: string
  readonly value: string
  /** What code sees of it. */
  readonly placeholder: string
}
