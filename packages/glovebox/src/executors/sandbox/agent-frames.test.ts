import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { GloveboxError } from "../../core/index.ts"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import { AgentFrames, LONGEST_ANSWER, encodeFrame, encodeJsonFrame } from "./agent-frames.ts"
import { cutAt, cuts } from "./byte-cuts.test-kit.ts"

const ANSWERS = "Rsoexmfdvc!ta".split("")

interface Parsed {
  readonly frames: readonly (readonly [type: string, payload: string])[]
  readonly error: string | undefined
}

/** What a parser gives for these pieces, up to the first error; anything thrown but SANDBOX_BROKEN fails. */
function parse(pieces: readonly Buffer[]): Parsed {
  const frames: [string, string][] = []
  const parser = new AgentFrames(({ type, payload }) => frames.push([type, payload.toString("latin1")]))
  for (const piece of pieces) {
    try {
      parser.push(piece)
    } catch (error) {
      if (!GloveboxError.is(error, "SANDBOX_BROKEN")) throw error
      return { frames, error: error.message }
    }
  }
  return { frames, error: undefined }
}

const frame = fc
  .tuple(fc.constantFrom(...ANSWERS), fc.uint8Array({ maxLength: 40 }))
  .map(([type, payload]) => ({ type, payload: Buffer.from(payload) }))

describe("AgentFrames", () => {
  it("gives back the frames that were encoded, wherever the stream is cut", () => {
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 8 }), cuts, (sent, points) => {
        const bytes = Buffer.concat(sent.map(({ type, payload }) => encodeFrame(type, payload)))
        const expected = sent.map(({ type, payload }) => [type, payload.toString("latin1")])
        expect(parse(cutAt(bytes, points))).toEqual({ frames: expected, error: undefined })
      }),
      { numRuns: 40 },
    )
  })

  it("takes a stream byte by byte, and empty pieces, and frames without content", () => {
    const bytes = Buffer.concat([
      encodeFrame("o"),
      encodeFrame("e", Buffer.from("abc"), Buffer.from("def")),
      encodeFrame("x"),
      encodeJsonFrame("c", { ü: 1 }),
    ])
    const expected = {
      frames: [
        ["o", ""],
        ["e", "abcdef"],
        ["x", ""],
        ["c", '{"Ã¼":1}'],
      ],
      error: undefined,
    }
    expect(parse([bytes])).toEqual(expected)
    const single = [...bytes].flatMap((byte) => [Buffer.of(byte), Buffer.alloc(0)])
    expect(parse(single)).toEqual(expected)
    for (let at = 0; at <= bytes.length; at += 1) {
      expect(parse([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(expected)
    }
  })

  it("gives the same for any bytes, wherever they are cut: the same frames, and then the same error", () => {
    const likely = fc.oneof(
      frame.map(({ type, payload }) => encodeFrame(type, payload)),
      fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes)),
    )
    const stream = fc.array(likely, { maxLength: 6 }).map((parts) => Buffer.concat(parts))
    fc.assert(
      fc.property(stream, cuts, (bytes, points) => {
        expect(parse(cutAt(bytes, points))).toEqual(parse([bytes]))
      }),
      { numRuns: 80 },
    )
  })

  it("refuses a frame longer than an agent sends by its header alone", () => {
    const longest = encodeFrame("o", Buffer.alloc(LONGEST_ANSWER))
    expect(parse([longest]).frames[0]?.[1]).toHaveLength(LONGEST_ANSWER)
    for (const length of [LONGEST_ANSWER + 1, 2 ** 31, 2 ** 32 - 1]) {
      const header = Buffer.alloc(5, "o")
      header.writeUInt32BE(length, 1)
      const parser = new AgentFrames(() => expect.fail("a frame came"))
      parser.push(header.subarray(0, 4))
      expect(failureOf(() => parser.push(header.subarray(4)))).toMatch(
        new RegExp(`^SANDBOX_BROKEN: .*a frame of ${length} bytes`),
      )
    }
  })

  it("refuses every type that no agent sends, the host's own among them", () => {
    const types = Array.from({ length: 256 }, (_, type) => type)
    const taken = types.filter((type) => parse([Buffer.of(type, 0, 0, 0, 0)]).frames.length > 0)
    expect(String.fromCharCode(...taken)).toBe(ANSWERS.toSorted().join(""))
    const errors = types.flatMap((type) => parse([Buffer.of(type, 0, 0, 0, 0)]).error ?? [])
    expect(errors).toHaveLength(256 - taken.length)
    expect(errors[0]).toContain("a frame of type 0x0,")
    expect(errors.at(-1)).toContain("a frame of type 0xff,")
  })

  it("passes on what the consumer of a frame throws, and goes on with the next", () => {
    const seen: string[] = []
    const parser = new AgentFrames(({ type }) => {
      seen.push(type)
      if (type === "e") throw new Error("the consumer's own")
    })
    expect(() => parser.push(encodeFrame("e", Buffer.from("x")))).toThrow("the consumer's own")
    parser.push(encodeFrame("o", Buffer.from("y")))
    expect(seen).toEqual(["e", "o"])
  })
})

describe("encodeFrame", () => {
  it("writes a type, a length in four bytes, and the parts one after the other", () => {
    expect([...encodeFrame("P", Buffer.from("ab"), Buffer.from("c"))]).toEqual([80, 0, 0, 0, 3, 97, 98, 99])
    expect([...encodeFrame("K")]).toEqual([75, 0, 0, 0, 0])
  })

  it("counts bytes, not characters, of JSON", () => {
    const bytes = encodeJsonFrame("U", { paths: ["ü"] })
    expect(bytes.readUInt32BE(1)).toBe(bytes.length - 5)
    expect(JSON.parse(bytes.subarray(5).toString("utf8"))).toEqual({ paths: ["ü"] })
  })
})
