/** What the log says of itself. */
export type LogEvent =
  | { readonly event: "opened"; readonly pid: number; readonly host: string }
  /** The first record of a file after another. */
  | {
      readonly event: "rotated"
      readonly previousFile: string
      readonly previousSeq: number
      readonly previousHash: string
    }
  /** A line without an end was found and put aside. */
  | { readonly event: "torn-line"; readonly bytes: number; readonly sha256: string; readonly keptAs: string }
  | { readonly event: "clock-set-back"; readonly from: string; readonly to: string }
  /** The log can write again; so many records were refused meanwhile. */
  | { readonly event: "write-recovered"; readonly refused: number; readonly error: string }

/** The data of a checkpoint. */
export interface Checkpoint {
  readonly reason: "opened" | "every" | "closed"
  /** After at most so many records there is another. */
  readonly every: number
  /** SHA-256 of the public key, in the DER form of SubjectPublicKeyInfo. */
  readonly key?: string | undefined
  /** Ed25519, in base64. */
  readonly signature?: string | undefined
}

export const LOG_KIND = "log"
export const CHECKPOINT_KIND = "checkpoint"
