import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { jsonLine, revealedText, safeText, visibleLine, visibleText } from "./safe-text.ts"

describe("safeText", () => {
  it("lets text, lines and colours through", () => {
    const text = "a\tb\r\n\u001b[1;31mred\u001b[0m äöü 😀"
    expect(safeText(text)).toBe(text)
  })

  it("shows what a terminal would act on", () => {
    expect(safeText("\u001b]0;title\u0007")).toBe("␛]0;title␇")
    expect(safeText("\u001b[2Jgone\u001b[1A")).toBe("␛[2Jgone␛[1A")
    expect(safeText("a\u009b2Jb\u007f")).toBe("a<U+009B>2Jb␡")
    expect(safeText("a\u202eb")).toBe("a<U+202E>b")
  })
})

describe("visibleText", () => {
  it("lets text and lines through, and no colours", () => {
    expect(visibleText("a\tb\nc\r\nd")).toBe("a\tb\nc\nd")
    expect(visibleText("\u001b[1;31mred\u001b[0m")).toBe("␛[1;31mred␛[0m")
  })

  it.each([
    ["bells and backspaces", "a\u0007\u0008\u0008b\0", "a␇␈␈b␀"],
    ["a line that would cover its beginning", "rm -rf /\rls", "rm -rf /␍\nls"],
    ["controls of eight bits", "\u009b2J\u0090", "<U+009B>2J<U+0090>"],
    [
      "the order of letters",
      "\u202eab\u202c\u2066c\u2069\u200fd",
      "<U+202E>ab<U+202C><U+2066>c<U+2069><U+200F>d",
    ],
    ["letters of no width", "a\u200bb\u2060c\ufeffd\u00ade", "a<U+200B>b<U+2060>c<U+FEFF>d<U+00AD>e"],
    ["joiners that join nothing", "a\u200db\u200cc\ufe0f", "a<U+200D>b<U+200C>c<U+FE0F>"],
    [
      "selectors in names",
      "a1\ufe0f \u2139\ufe0f \u2139\u200d\u2139",
      "a1<U+FE0F> \u2139<U+FE0F> \u2139<U+200D>\u2139",
    ],
    ["hidden tags and selectors", "x\u{e0041}y\u{e0100}", "x<U+E0041>y<U+E0100>"],
    ["fillers", "a\u3164b\u115fc", "a<U+3164>b<U+115F>c"],
    ["other ends of lines", "a\u2028b\u2029c\u0085d", "a<U+2028>b<U+2029>c<U+0085>d"],
    ["half a character", "a\ud83d b\ude00", "a<U+D83D> b<U+DE00>"],
  ])("shows %s", (_, text, shown) => {
    expect(visibleText(text)).toBe(shown)
  })

  it.each(["👩‍🔬 👍🏽 ❤️ 1️⃣ 👨‍👩‍👧", "می‌خواهم", "क्‍ष", "naïve Ünïcödé 漢字 ٱلْعَرَبِيَّة"])("leaves %s as it is", (text) => {
    expect(visibleText(text)).toBe(text)
  })

  it("leaves nothing that a terminal acts on, in any text", () => {
    const nasty = fc.constantFrom(
      "\u001b",
      "\u009b",
      "[",
      "2",
      "J",
      "\r",
      "\n",
      "\b",
      "\u202e",
      "\u200d",
      "👩",
      "\ud83d",
      "a",
    )
    const text = fc.array(
      fc.oneof(
        nasty,
        fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code)),
      ),
      { maxLength: 8 },
    )
    fc.assert(
      fc.property(text, (parts) => {
        expect(Array.from(visibleText(parts.join(""))).filter(isDangerous)).toEqual([])
      }),
    )
  })
})

describe("revealedText", () => {
  it.each([
    ["what joins letters", "می\u200cخواهم 👩\u200d🔬 ❤\ufe0f", "می<U+200C>خواهم 👩<U+200D>🔬 ❤<U+FE0F>"],
    [
      "blanks that are no space",
      "rm\u00a0-rf\u3000/\u2800x\u202f",
      "rm<U+00A0>-rf<U+3000>/<U+2800>x<U+202F>",
    ],
    ["what is visible text for others too", "a\u202eb\u001b[1m\rc", "a<U+202E>b␛[1m␍\nc"],
  ])("shows %s", (_, text, shown) => {
    expect(revealedText(text)).toBe(shown)
  })

  it("leaves text, spaces, tabs and lines as they are", () => {
    const text = "\tif x:\n\t\tprint('naïve 漢字 👍🏽')\n"
    expect(revealedText(text)).toBe(text)
  })
})

function isDangerous(character: string): boolean {
  const code = character.codePointAt(0) ?? 0
  if (code === 0x09 || code === 0x0a) return false
  return [
    [0x00, 0x1f],
    [0x7f, 0x9f],
    [0x200b, 0x200b],
    [0x200e, 0x200f],
    [0x2028, 0x202e],
    [0x2060, 0x206f],
    [0xd800, 0xdfff],
    [0xfeff, 0xfeff],
  ].some(([first = 0, last = 0]) => code >= first && code <= last)
}

describe("visibleLine", () => {
  it("is one line", () => {
    expect(visibleLine("a\nb\r\nc\td\u001b")).toBe("a␊b␍␊c␉d␛")
  })
})

describe("jsonLine", () => {
  it("is one line for every reader, nothing in it that a terminal acts on, and the same value", () => {
    const value = { text: "a\u2028b\u0085c\u009b2J\u202ed\u007f\n\u{e0041}\ud83d😀é" }
    const line = jsonLine(value)
    expect(line).toBe(visibleLine(line))
    expect(JSON.parse(line)).toEqual(value)
    expect(line).toContain("😀é")
  })
})
