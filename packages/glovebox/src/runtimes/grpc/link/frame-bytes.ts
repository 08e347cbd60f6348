import { GloveboxError } from "../../../core/glovebox-error.ts"
import { decodeMessage } from "../wire/codec.ts"
import type { Beat, WireMessage } from "../wire/wire-message.ts"

// The tag of `Message.batch`, 104 << 3 | 2, as a varint.
const BATCH_TAG = [0xc2, 0x06] as const
// The tag of `Message.beat`, 101 << 3 | 2, as a varint, and those of the numbers in it.
const BEAT_TAG = [0xaa, 0x06] as const
const [RECEIVED_TAG, PING_TAG, PONG_TAG] = [0x09, 0x11, 0x19] as const
// A tag and a double.
const NUMBER_SIZE = 9
const EMPTY = Buffer.alloc(0)

/** How many bytes a frame takes within a batch. */
export function sizeInBatch(frame: Buffer): number {
  return BATCH_TAG.length + varintSize(frame.length) + frame.length
}

/** One message of some frames and a beat, made by copying: fields of protobuf messages may be joined like that. */
export function joinFrames(frames: readonly Buffer[], beat: Beat | undefined): Buffer {
  const [first = EMPTY] = frames
  const isBatch = frames.length > 1
  if (!isBatch && !beat) return first
  let size = beatSize(beat)
  for (const frame of frames) size += isBatch ? sizeInBatch(frame) : frame.length
  const joined = Buffer.allocUnsafe(size)
  let at = 0
  for (const frame of frames) {
    if (isBatch) at = writeBatchTag(joined, at, frame.length)
    at += frame.copy(joined, at)
  }
  if (beat) writeBeat(joined, at, beat)
  return joined
}

/** Gives the messages within one message, one after the other, until `take` wants no more. */
export function splitFrames(bytes: Buffer, take: (message: WireMessage) => boolean): void {
  let at = 0
  while (bytes[at] === BATCH_TAG[0] && bytes[at + 1] === BATCH_TAG[1]) {
    const { value: size, end } = readVarint(bytes, at + BATCH_TAG.length)
    if (end + size > bytes.length) break
    if (!take(single(decodeMessage(bytes.subarray(end, end + size))))) return
    at = end + size
  }
  if (at === bytes.length && at > 0) return
  const rest = decodeMessage(at === 0 ? bytes : bytes.subarray(at))
  if (!take(rest)) return
  for (const message of rest.batch ?? []) if (!take(single(message))) return
}

/** A batch where only one message may be is refused: nobody would read what is in it. */
export function single(message: WireMessage): WireMessage {
  if (!message.batch?.length) return message
  throw new GloveboxError("CONNECTION_LOST", "A batch came within a batch, or in parts.")
}

function writeBatchTag(target: Buffer, start: number, size: number): number {
  let at = start
  target[at++] = BATCH_TAG[0]
  target[at++] = BATCH_TAG[1]
  let rest = size
  for (; rest > 0x7f; rest >>>= 7) target[at++] = (rest & 0x7f) | 0x80
  target[at++] = rest
  return at
}

/** Written by hand, because nearly every message has one. */
function beatSize(beat: Beat | undefined): number {
  return beat ? BEAT_TAG.length + 1 + beatNumbers(beat) * NUMBER_SIZE : 0
}

function beatNumbers({ received = 0, ping = 0, pong = 0 }: Beat): number {
  return (received > 0 ? 1 : 0) + (ping > 0 ? 1 : 0) + (pong > 0 ? 1 : 0)
}

function writeBeat(target: Buffer, start: number, beat: Beat): void {
  const { received = 0, ping = 0, pong = 0 } = beat
  target[start] = BEAT_TAG[0]
  target[start + 1] = BEAT_TAG[1]
  target[start + 2] = beatNumbers(beat) * NUMBER_SIZE
  let at = start + 3
  at = writeNumber(target, at, RECEIVED_TAG, received)
  at = writeNumber(target, at, PING_TAG, ping)
  writeNumber(target, at, PONG_TAG, pong)
}

/** As protobuf has it, 0 is not written. */
function writeNumber(target: Buffer, at: number, tag: number, value: number): number {
  if (value <= 0) return at
  target[at] = tag
  return target.writeDoubleLE(value, at + 1)
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
