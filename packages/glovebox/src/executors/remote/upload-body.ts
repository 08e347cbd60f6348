import { createHash } from "node:crypto"
import type { FarEnd } from "./far-end.ts"
import { CHUNK_BYTES, ExecutorAck, ExecutorUpload } from "./messages.ts"

/** The last part of what was uploaded, for the message that says what it is for. */
export interface LastPart {
  readonly id: string
  readonly seq: number
  readonly data: string
  readonly sha256: string
}

/** Sends all but the last part; each waits for the one before, so that no more than one is on its way. */
export async function uploadBody(
  farEnd: FarEnd,
  id: string,
  body: Buffer,
  signal: AbortSignal,
): Promise<LastPart> {
  const part = (seq: number): string =>
    body.subarray(seq * CHUNK_BYTES, (seq + 1) * CHUNK_BYTES).toString("base64")
  let seq = 0
  for (; body.length - seq * CHUNK_BYTES > CHUNK_BYTES; seq += 1) {
    await farEnd.ask(ExecutorUpload({ id, seq, data: part(seq) }), { expect: ExecutorAck, signal })
  }
  return { id, seq, data: part(seq), sha256: createHash("sha256").update(body).digest("hex") }
}
