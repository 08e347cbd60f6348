import { GloveboxError } from "../../../core/glovebox-error.ts"
import { decodeMessage, encodeMessage } from "../wire/codec.ts"
import type { Beat, WireMessage } from "../wire/wire-message.ts"

// The tag of `Message.batch`, 104 << 3 | 2, as a varint.
const BATCH_TAG = [0xc2, 0x06] as const
const EMPTY = Buffer.alloc(0)

/** How many bytes a frame takes within a batch. */
export function sizeInBatch(frame: Buffer): number {
  return BATCH_TAG.length + varintSize(frame.length) + frame.length
}

/** The bytes of a message that has only a beat; put behind another message's bytes they are part of it. */
export function beatBytes(beat: Beat | undefined): Buffer {
  return beat ? encodeMessage({ beat }) : EMPTY
}

/** One message of some frames and a beat, made by copying: fields of protobuf messages may be joined like that. */
export function joinFrames(frames: readonly Buffer[], beat: Buffer): Buffer {
  const [first = EMPTY] = frames
  if (frames.length <= 1) return beat.length === 0 ? first : Buffer.concat([first, beat])
  let size = beat.length
  for (const frame of frames) size += sizeInBatch(frame)
  const joined = Buffer.allocUnsafe(size)
  let at = 0
  for (const frame of frames) {
    joined[at++] = BATCH_TAG[0]
    joined[at++] = BATCH_TAG[1]
    let rest = frame.length
    for (; rest > 0x7f; rest >>>= 7) joined[at++] = (rest & 0x7f) | 0x80
    joined[at++] = rest
    at += frame.copy(joined, at)
  }
  beat.copy(joined, at)
  return joined
}

/** The messages within one message, one after the other as they are asked for. */
export function* splitFrames(bytes: Buffer): Generator<WireMessage, void> {
  let at = 0
  while (bytes[at] === BATCH_TAG[0] && bytes[at + 1] === BATCH_TAG[1]) {
    const { value: size, end } = readVarint(bytes, at + BATCH_TAG.length)
    if (end + size > bytes.length) break
    yield single(decodeMessage(bytes.subarray(end, end + size)))
    at = end + size
  }
  if (at === bytes.length && at > 0) return
  const rest = decodeMessage(at === 0 ? bytes : bytes.subarray(at))
  yield rest
  for (const message of rest.batch ?? []) yield single(message)
}

/** A batch where only one message may be is refused: nobody would read what is in it. */
export function single(message: WireMessage): WireMessage {
  if (!message.batch?.length) return message
  throw new GloveboxError("CONNECTION_LOST", "A batch came within a batch, or in parts.")
}

function varintSize(value: number): number {
  let size = 1
  for (let rest = value; rest > 0x7f; rest >>>= 7) size++
  return size
}

/** A length beyond 32 bits becomes one that no message has. */
function readVarint(bytes: Buffer, start: number): { readonly value: number; readonly end: number } {
  let value = 0
  for (let end = start, scale = 1; end < bytes.length && end - start < 5; end++, scale *= 128) {
    const byte = bytes[end] ?? 0
    value += (byte & 0x7f) * scale
    if (byte < 0x80) return { value, end: end + 1 }
  }
  return { value: Number.MAX_SAFE_INTEGER, end: bytes.length }
}
