/** A sandbox that began or ended. */
export interface SandboxEvent {
  readonly event: "started" | "destroyed"
  readonly containerId: string
  /** Where it began: the image's id, which is the digest of its content. */
  readonly imageDigest?: string | undefined
  readonly policySha256?: string | undefined
  readonly runtime?: string | undefined
  /** Why it ended, where that is not its usual end. */
  readonly reason?: string | undefined
}
