import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type CollectedOutput, type OutputChunk, OutputCollector } from "./output-collector.ts"

const out = (text: string | number[]): OutputChunk => ({
  stream: "stdout",
  bytes: Buffer.from(text as string),
})
const err = (text: string | number[]): OutputChunk => ({
  stream: "stderr",
  bytes: Buffer.from(text as string),
})

function collect(limit: number, ...chunks: OutputChunk[]): CollectedOutput {
  const collector = new OutputCollector(limit)
  for (const chunk of chunks) collector.push(chunk)
  return collector.result()
}

describe("OutputCollector", () => {
  it("keeps both streams in order of arrival, and each by itself", () => {
    expect(collect(100, out("out1\n"), err("err1\n"), out("out2\n"))).toEqual({
      output: "out1\nerr1\nout2\n",
      stdout: "out1\nout2\n",
      stderr: "err1\n",
      truncated: false,
      bytes: 15,
    })
    expect(collect(0)).toEqual({ output: "", stdout: "", stderr: "", truncated: false, bytes: 0 })
  })

  it("keeps a character whole that another stream comes between", () => {
    const { output, stdout } = collect(
      100,
      out([0x61, 0xf0, 0x9f]),
      err("E"),
      out([0x98]),
      err("F"),
      out([0x80, 0x62]),
    )
    expect([output, stdout]).toEqual(["aEF😀b", "a😀b"])
  })

  it("shows U+FFFD for bytes that are no text, and never throws", () => {
    const { output, stdout, stderr } = collect(100, out([0xff, 0x61, 0xe2, 0x82]), err([0xc3]))
    expect([output, stdout, stderr]).toEqual(["\uFFFDa\uFFFD\uFFFD", "\uFFFDa\uFFFD", "\uFFFD"])
  })

  it("keeps the first and the last half of too much", () => {
    expect(collect(6, out("abcdefghij"))).toEqual({
      output: "abc\n[... 4B left out ...]\nhij",
      stdout: "abc\n[... 4B left out ...]\nhij",
      stderr: "",
      truncated: true,
      bytes: 10,
    })
    expect(collect(5, out("abcdef")).output).toBe("abc\n[... 1B left out ...]\nef")
    expect(collect(1, out("ab")).output).toBe("a\n[... 1B left out ...]\n")
    expect(collect(0, out("ab")).output).toBe("\n[... 2B left out ...]\n")
  })

  it("bounds each stream by itself", () => {
    const { output, stdout, stderr } = collect(4, out("abc"), err("xyz"))
    expect([output, stdout, stderr]).toEqual(["ab\n[... 2B left out ...]\nyz", "abc", "xyz"])
  })

  it("leaves nothing out at exactly the limit", () => {
    expect(collect(6, out("abc"), out("def"))).toMatchObject({ output: "abcdef", truncated: false })
  })

  it("cuts no character in two", () => {
    expect(collect(5, out("ä€€")).output).toBe("ä\n[... 6B left out ...]\n")
    expect(collect(7, out("€€€")).output).toBe("€\n[... 3B left out ...]\n€")
  })

  it("says how much was left out in a unit that is easily read", () => {
    const { output, bytes } = collect(1024, out("x".repeat(300_000)), out("x".repeat(300_000)))
    expect(output).toContain("\n[... 585KiB left out ...]\n")
    expect(bytes).toBe(600_000)
  })

  it("copies what it keeps", () => {
    const collector = new OutputCollector(4)
    const bytes = Buffer.from("ab\xc3", "latin1")
    for (let round = 0; round < 4; round += 1) collector.push({ stream: "stdout", bytes })
    bytes.fill("!")
    expect(collector.result().stdout).toBe("ab\n[... 8B left out ...]\nb\uFFFD")
  })

  it("copies the half of a character that it holds back", () => {
    const collector = new OutputCollector(10)
    const bytes = Buffer.of(0x61, 0xc3)
    collector.push({ stream: "stdout", bytes })
    bytes.fill("!")
    collector.push(out([0xa9]))
    expect(collector.result().output).toBe("aé")
  })

  it("answers the same when asked twice", () => {
    const collector = new OutputCollector(10)
    collector.push(out([0x61, 0xc3]))
    expect(collector.result()).toEqual(collector.result())
  })

  it("gives all of what fits, however it is cut up, and else its two ends", () => {
    const chunk = fc.record({
      stream: fc.constantFrom("stdout", "stderr"),
      bytes: fc.oneof(
        fc.uint8Array({ maxLength: 9 }),
        fc.string({ unit: "grapheme" }).map((text) => Buffer.from(text)),
      ),
    })
    fc.assert(
      fc.property(fc.array(chunk), fc.nat({ max: 60 }), (chunks, limit) => {
        const collected = collect(limit, ...(chunks as OutputChunk[]))
        const streams = (["stdout", "stderr"] as const).map((stream) => ({
          text: collected[stream],
          all: Buffer.concat(chunks.filter((each) => each.stream === stream).map((each) => each.bytes)),
        }))
        const whole = streams.filter(({ all }) => all.length <= limit)
        expect(whole.map(({ text }) => text)).toEqual(whole.map(({ all }) => all.toString("utf8")))
        for (const { text, all } of streams) if (all.length > limit) expectEnds(text, all, limit)
        const bytes = chunks.reduce((sum, each) => sum + each.bytes.length, 0)
        expect(collected).toMatchObject({ bytes, truncated: bytes > limit })
      }),
      { numRuns: 500 },
    )
  })

  it("interleaves whole characters only", () => {
    const cuts = fc.array(
      fc.record({ stream: fc.constantFrom("stdout", "stderr"), size: fc.integer({ min: 1, max: 3 }) }),
    )
    fc.assert(
      fc.property(cuts, (sizes) => {
        const rest = { stdout: Buffer.from("ä€😀".repeat(20)), stderr: Buffer.from("ö¥🎈".repeat(20)) }
        const collector = new OutputCollector(10_000)
        for (const { stream, size } of [...sizes, ...ends]) {
          const from = stream as "stdout" | "stderr"
          collector.push({ stream: from, bytes: rest[from].subarray(0, size) })
          rest[from] = rest[from].subarray(size)
        }
        const { output, stdout, stderr } = collector.result()
        expect(output.replaceAll(/[ö¥🎈]/gu, "")).toBe(stdout)
        expect(output.replaceAll(/[ä€😀]/gu, "")).toBe(stderr)
      }),
    )
  })
})

const ends = [
  { stream: "stdout", size: 1000 },
  { stream: "stderr", size: 1000 },
]

function expectEnds(text: string, all: Buffer, limit: number): void {
  const [, head = "", leftOut = "", tail = ""] =
    /^([^]*)\n\[\.\.\. (\d+)B left out \.\.\.\]\n([^]*)$/.exec(text) ?? []
  const kept = all.length - Number(leftOut)
  expect(kept).toBeLessThanOrEqual(limit)
  expect(kept).toBeGreaterThanOrEqual(limit - 6)
  expect(all.toString("utf8").startsWith(head.replace(/\uFFFD+$/, ""))).toBe(true)
  expect(all.toString("utf8").endsWith(tail.replace(/^\uFFFD+/, ""))).toBe(true)
}
