import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { withoutColors } from "./console.test-kit.ts"
import { MarkdownWriter } from "./markdown-writer.ts"

function draw(...pieces: readonly string[]): string {
  const writer = new MarkdownWriter()
  return pieces.map((piece) => writer.push(piece)).join("") + writer.end()
}

const bold = (text: string): string => `\u001B[1m${text}\u001B[22m`
const code = (text: string): string => `\u001B[36m${text}\u001B[39m`

describe("MarkdownWriter", () => {
  it.each([
    ["bold text and code", "a **b c** and `d **e`.", `a ${bold("b c")} and ${code("d **e")}.`],
    ["code in bold text", "**run `x`** now", `${bold(`run ${code("x")}`)} now`],
    ["a heading", "## Plan\n", bold("Plan")],
    ["a list", "- one\n  * two\n1. three", "• one\n  • two\n1. three"],
    ["what is no markdown", "2 ** 3, a*b*c, __init__, x`", "2 ** 3, a*b*c, __init__, x`"],
    ["a table as it is", "| a | **b** |\n|---|---|", "| a | **b** |\n|---|---|"],
    ["empty lines", "a\n\n\nb", "a\n\n\nb"],
  ])("draws %s", (_, text, drawn) => {
    expect(draw(text)).toBe(`${drawn}\n`)
  })

  it("frames code, with its language and numbered lines", () => {
    const text = "Look:\n```python\nprint('**x**')\n\n~~~\n```\nDone. ~~~"
    expect(withoutColors(draw(text))).toBe(
      ["Look:", "    ┌ python", "  1 │ print('**x**')", "  2 │ ", "  3 │ ~~~", "    └", "Done. ~~~", ""].join(
        "\n",
      ),
    )
  })

  it("closes a frame that nobody closes", () => {
    expect(withoutColors(draw("~~~~sh\nls\n```"))).toBe("    ┌ sh\n  1 │ ls\n  2 │ ```\n    └\n")
  })

  it("shows a return inside code where a new line begins for Python", () => {
    expect(withoutColors(draw("```\n# fine\rimport os\r\nx\r"))).toBe(
      "    ┌\n  1 │ # fine␍\n  2 │ import os\n  3 │ x␍\n    └\n",
    )
  })

  it("draws words as they come", () => {
    const writer = new MarkdownWriter()
    expect(writer.push("The ans")).toBe("The ")
    expect(writer.push("wer is **4")).toBe("answer is ")
    expect(writer.push("2** and")).toBe(`${bold("42")} `)
    expect(writer.push(" more")).toBe("and ")
    expect(writer.end()).toBe("more\n")
  })

  it("draws the same in whatever pieces it comes", () => {
    const word = fc.constantFrom(
      ..."# |-|* |**|`|```|a|b c|\n|\r|\r\n| |1. |> |---|| x|\u001B[2J|👩‍🔬|\ud83d|py".split("|"),
      "|",
    )
    fc.assert(
      fc.property(
        fc.array(word, { maxLength: 20 }),
        fc.array(fc.nat(12), { minLength: 1 }),
        (words, sizes) => {
          const text = words.join("")
          const pieces: string[] = []
          for (let from = 0; from < text.length; from += pieces.at(-1)?.length ?? 1) {
            pieces.push(text.slice(from, from + 1 + (sizes[pieces.length % sizes.length] ?? 0)))
          }
          expect(withoutColors(draw(...pieces))).toBe(withoutColors(draw(text)))
        },
      ),
    )
  })

  it("takes a line without end in its stride", () => {
    const writer = new MarkdownWriter()
    const piece = "`*x".repeat(4)
    const drawn = Array.from({ length: 2000 }, () => writer.push(piece)).join("") + writer.end()
    expect(drawn.length).toBeGreaterThan(10_000)
  })
})
