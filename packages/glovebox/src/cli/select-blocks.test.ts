import { describe, expect, it } from "vitest"
import { selectBlocks } from "./select-blocks.ts"

const fence = (language: string, code: string): string => `\`\`\`${language}\n${code}\n\`\`\`\n`
const select = (text: string): ReturnType<typeof selectBlocks> =>
  selectBlocks({ text, name: "a.md" }, "markdown")

describe("selectBlocks", () => {
  it("takes code as it is", () => {
    const text = fence("python", "1")
    expect(selectBlocks({ text, name: "a.sh" }, "sh")).toEqual({
      blocks: [{ code: text, language: "sh" }],
      notes: [],
    })
  })

  it("takes the blocks of a markdown text in their order, and says which it skips", () => {
    const text = ["# Title", fence("python", "1"), fence("", "x"), fence("mermaid", "x"), fence("sh", "2")]
    expect(select(text.join("\n"))).toEqual({
      blocks: [
        { code: "1", language: "python" },
        { code: "2", language: "sh" },
      ],
      notes: [
        "skipped block 2 of a.md: it names no language",
        'skipped block 3 of a.md: no program is known for "mermaid"',
      ],
    })
  })

  it("refuses a text of which nothing can run", () => {
    expect(() => select("no code")).toThrow("a.md has no fenced code block")
    expect(() => select(fence("", "x") + fence("mermaid", "x"))).toThrow(
      "None of the 2 fenced blocks of a.md",
    )
  })
})
