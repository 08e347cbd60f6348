import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { cutAt, cuts } from "../sandbox/byte-cuts.test-kit.ts"
import { MarkedStream } from "./marked-stream.ts"

interface Parsed {
  readonly output: string
  readonly line: string | undefined
  /** Whether every push was one that an agent may send. */
  readonly fine: boolean
}

function parse(marker: string, pieces: readonly Buffer[], longestLine?: number): Parsed {
  let output = ""
  const stream = new MarkedStream(marker, (bytes) => (output += bytes.toString("latin1")), longestLine)
  const fine = pieces.map((piece) => stream.push(piece)).every(Boolean)
  return { output, line: stream.line, fine }
}

const latin1 = (text: string): Buffer => Buffer.from(text, "latin1")

describe("MarkedStream", () => {
  it("gives output exactly, and finds the marker, wherever both are cut", () => {
    // Few letters, so that beginnings of the marker, and beginnings of beginnings, are everywhere.
    const text = fc.string({ unit: fc.constantFrom("a", "b", "\n"), maxLength: 30 })
    const marker = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(text, marker, cuts, (output, ending, points) => {
        const bytes = `${output}${ending}7 -\n`
        const at = bytes.indexOf(ending)
        fc.pre(at === output.length)
        expect(parse(ending, cutAt(latin1(bytes), points))).toEqual({ output, line: "7 -", fine: true })
      }),
      { numRuns: 100 },
    )
  })

  it("holds back only what may be the beginning of the marker", () => {
    const marker = "0123456789abcdef"
    const stream = new MarkedStream(marker, (bytes) => (seen += bytes.toString("latin1")))
    let seen = ""
    for (const [bytes, expected] of [
      ["hello 012", "hello "],
      ["345", "hello "],
      ["x", "hello 012345x"],
      ["00", "hello 012345x0"],
      [marker.slice(1, 9), "hello 012345x0"],
      ["0", "hello 012345x0012345678"],
      ["!", "hello 012345x00123456780!"],
    ] as const) {
      expect(stream.push(latin1(bytes))).toBe(true)
      expect(seen).toBe(expected)
    }
  })

  it("gives all bytes, also those that are no text", () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index))
    const { output, line } = parse("MARK", [bytes, latin1("MARK 0 -\n")])
    expect(output).toBe(bytes.toString("latin1"))
    expect(line).toBe("0 -")
  })

  it("refuses bytes behind the line, in the same piece and in a later one", () => {
    expect(parse("M", [latin1("M0 -\nx")]).fine).toBe(false)
    expect(parse("M", [latin1("M0 -\n"), latin1("x")]).fine).toBe(false)
    expect(parse("M", [latin1("M0 -\n"), Buffer.alloc(0)])).toEqual({ output: "", line: "0 -", fine: true })
  })

  it("refuses a line without end, and does not keep it", () => {
    const pieces = Array.from({ length: 9 }, () => latin1("x".repeat(8)))
    expect(parse("M", [latin1("M"), ...pieces.slice(0, 8)], 64).fine).toBe(true)
    expect(parse("M", [latin1("M"), ...pieces], 64).fine).toBe(false)
  })

  it("takes the first marker, and what looks like a second one belongs to the line", () => {
    expect(parse("MM", [latin1("aMMMM 1\n")])).toEqual({ output: "a", line: "MM 1", fine: true })
  })
})
