import { describe, expect, it } from "vitest"
import { image } from "../../models/index.ts"
import { LARGEST_FILE, artifact, imageContents, linesOf, outputText } from "./file-contents.ts"

const LARGEST_MESSAGE = 10 * 1024 ** 2
const sizeOf = (content: unknown): number => JSON.stringify(content).length

describe("linesOf", () => {
  const lines = Buffer.from("a\nb\nc\nd")

  it("gives the lines that were asked for, and says how to go on", () => {
    expect(linesOf("f", lines, 0, 2)).toBe("a\nb\n[2 more lines; go on with offset 2]")
    expect(linesOf("f", lines, 2, 2)).toBe("c\nd")
    expect(linesOf("f", Buffer.alloc(0), 0, 2)).toBe("")
    expect(() => linesOf("f", lines, 4, 1)).toThrow("f has 4 lines, and none at offset 4")
  })

  it("gives no more than a model can read, however long lines are", () => {
    const long = Buffer.from(`${"x".repeat(150_000)}\n${"y".repeat(150_000)}\nz`)
    expect(linesOf("f", long, 0, 100)).toMatch(/^x+\n\[2 more lines; go on with offset 1\]$/)
    expect(linesOf("f", long, 1, 100)).toMatch(/^y+\nz$/)
    const one = linesOf("f", Buffer.from("x".repeat(1_000_000)), 0, 1)
    expect(one.length).toBeLessThan(201_000)
    expect(one).toContain("[this line has 1000000 characters; read it with code]")
  })

  it("says that bytes are no text", () => {
    for (const bytes of [Buffer.from([0]), Buffer.from([0xff, 0xfe])]) {
      expect(() => linesOf("f", bytes, 0, 1)).toThrow("f is no text")
    }
  })
})

describe("a file in a message", () => {
  it.each([0x01, 0x22, 0xff])("is never more than clients take, whatever it holds (%i)", (byte) => {
    expect(sizeOf(artifact("f", Buffer.alloc(LARGEST_FILE, byte)))).toBeLessThan(LARGEST_MESSAGE)
  })

  it("leaves room for what was printed, of which the end says how it went", () => {
    expect(outputText("fine")).toEqual({ type: "text", text: "fine" })
    const content = outputText(`begin${"\u0001".repeat(9_000_000)}exit code 3.`)
    expect(sizeOf(content)).toBeLessThan(LARGEST_MESSAGE / 2)
    expect(JSON.stringify(content)).toMatch(/begin.*The middle was left out.*exit code 3\./)
  })

  it("has a name that is no address of anything else", () => {
    expect(artifact("a b/ü?#.txt", Buffer.from("x"))).toMatchObject({
      resource: { uri: "file:///a%20b/%C3%BC%3F%23.txt", text: "x" },
    })
  })

  it("is left out as an image when there are too many, in words", () => {
    const png = image(Buffer.concat([Buffer.from("89504E470D0A1A0A", "hex"), Buffer.alloc(2 * 1024 ** 2)]))
    const contents = imageContents([png, png, png, png])
    expect(contents.map(({ type }) => type)).toEqual(["image", "text", "text", "text"])
    expect(sizeOf(contents)).toBeLessThan(LARGEST_MESSAGE)
  })
})
