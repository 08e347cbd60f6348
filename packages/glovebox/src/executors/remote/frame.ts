/** A piece of JSON, and bytes that belong to it. */
export interface Frame {
  readonly head: unknown
  readonly blobs: readonly Uint8Array[]
}

/** Two lengths, of the head and of all blobs together. */
export const PREFIX_BYTES = 8

/** A frame as bytes: the lengths, the head with the blobs' sizes, the blobs. */
export function writeFrame({ head, blobs }: Frame): readonly Uint8Array[] {
  const text = Buffer.from(JSON.stringify({ head, sizes: blobs.map(({ length }) => length) }))
  const prefix = Buffer.alloc(PREFIX_BYTES)
  prefix.writeUInt32BE(text.length, 0)
  prefix.writeUInt32BE(
    blobs.reduce((sum, { length }) => sum + length, 0),
    4,
  )
  return [prefix, text, ...blobs.filter(({ length }) => length > 0)]
}
