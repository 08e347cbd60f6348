import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { cutAt, cuts } from "../sandbox/byte-cuts.test-kit.ts"
import { EngineStream } from "./engine-stream.ts"
import { engineFrame } from "../sandbox/agent-line.test-kit.ts"

/** All that came on each of the two streams, and in which order the streams spoke. */
function parse(pieces: readonly Buffer[]): { stdout: string; stderr: string; order: string } {
  const texts = { stdout: "", stderr: "" }
  let order = ""
  const stream = new EngineStream((name, bytes) => {
    texts[name] += bytes.toString("latin1")
    const letter = name === "stdout" ? "o" : "e"
    if (!order.endsWith(letter)) order += letter
  })
  for (const piece of pieces) stream.push(piece)
  return { ...texts, order }
}

describe("EngineStream", () => {
  it("tells stdout from stderr, whatever the pieces that they come in", () => {
    const frame = fc.tuple(fc.constantFrom(1, 2), fc.uint8Array({ maxLength: 30 }))
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 8 }), cuts, (frames, points) => {
        const bytes = Buffer.concat(frames.map(([stream, content]) => engineFrame(stream, content)))
        const text = (wanted: number): string =>
          frames
            .filter(([stream]) => stream === wanted)
            .map(([, content]) => Buffer.from(content).toString("latin1"))
            .join("")
        const { stdout, stderr } = parse(cutAt(bytes, points))
        expect({ stdout, stderr }).toEqual({ stdout: text(1), stderr: text(2) })
      }),
      { numRuns: 40 },
    )
  })

  it("gives the same for any bytes, wherever they are cut, and never throws", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), cuts, (bytes, points) => {
        expect(parse(cutAt(Buffer.from(bytes), points))).toEqual(parse([Buffer.from(bytes)]))
      }),
      { numRuns: 40 },
    )
  })

  it("takes every cut, frames without content, and bytes one by one", () => {
    const bytes = Buffer.concat([
      engineFrame(1, Buffer.from("out")),
      engineFrame(2, Buffer.alloc(0)),
      engineFrame(2, Buffer.from("err")),
      engineFrame(1, Buffer.alloc(0)),
      engineFrame(1, Buffer.from("more")),
    ])
    const expected = { stdout: "outmore", stderr: "err", order: "oeo" }
    for (let at = 0; at <= bytes.length; at += 1) {
      expect(parse([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(expected)
    }
    expect(parse([...bytes].map((byte) => Buffer.of(byte)))).toEqual(expected)
  })

  it("passes content on as it comes, without waiting for a frame of 4 GiB to be whole", () => {
    const header = Buffer.from([1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff])
    expect(parse([header, Buffer.from("first"), Buffer.from(" second")]).stdout).toBe("first second")
  })
})
