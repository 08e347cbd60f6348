import fc from "fast-check"

/** Where to cut a stream, as parts of its length. */
export const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 })

/** The bytes in pieces, some of them perhaps empty. */
export function cutAt(bytes: Buffer, points: readonly number[]): Buffer[] {
  const ends = [...points.map((part) => Math.round(part * bytes.length)), bytes.length].toSorted(
    (a, b) => a - b,
  )
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
}
