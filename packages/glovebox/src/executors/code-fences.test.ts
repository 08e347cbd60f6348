import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { codeFences } from "./code-fences.ts"

const lines = (...text: string[]): string => text.join("\n")

describe("codeFences", () => {
  it("finds the blocks of an answer, in order, without what is around them", () => {
    const answer = lines(
      "First:",
      "```python",
      "x = 1",
      "",
      "print(x)",
      "```",
      "then `this`:",
      "",
      "~~~sh",
      "ls",
      "~~~",
    )
    expect(codeFences(answer)).toEqual([
      { language: "python", code: "x = 1\n\nprint(x)" },
      { language: "sh", code: "ls" },
    ])
    expect(codeFences("no code, only `ticks` and ```inline```")).toEqual([])
    expect(codeFences("")).toEqual([])
  })

  it.each([
    ["", ""],
    ["python", "python"],
    ["  Python  ", "Python"],
    ['python title="x"', "python"],
    ["python {cmd=true}", "python"],
    ["python{cmd=true}", "python"],
    ["python:src/main.py", "python"],
    ["rust,no_run", "rust"],
    ["{.python .numberLines}", "python"],
    ["{#id .python}", "python"],
    ["{python}", "python"],
    ["{r, echo=FALSE}", "r"],
    ["{}", ""],
    ['title="x"', ""],
    ["c++", "c++"],
    ["c#", "c#"],
    ["objective-c", "objective-c"],
  ])("reads the info string %j as %j", (info, language) => {
    expect(codeFences(lines(`\`\`\`${info}`, "x", "```"))).toEqual([{ language, code: "x" }])
    expect(codeFences(lines(`~~~ ${info}`, "x", "~~~"))).toEqual([{ language, code: "x" }])
  })

  it("reads other line ends, and spaces behind a fence", () => {
    expect(codeFences("```python  \r\na\r\n b\r\n```  \r\n")).toEqual([{ language: "python", code: "a\n b" }])
    expect(codeFences("\uFEFF```python\t\na\n```\t")).toEqual([{ language: "python", code: "a" }])
  })

  it("keeps shorter and other fences inside a longer one", () => {
    const inner = lines("```python", "x", "```", "~~~~", "``")
    expect(codeFences(lines("````markdown", inner, "`````"))).toEqual([{ language: "markdown", code: inner }])
    expect(codeFences(lines("~~~", "```", "a", "```", "~~~"))).toEqual([
      { language: "", code: "```\na\n```" },
    ])
  })

  it("takes a document as one block, with the tagged fences of its own length inside it", () => {
    const document = lines(
      "# How",
      "```python",
      "x",
      "```",
      "1. - ```sh",
      "     ls",
      "     ```",
      "> ```js",
      "> ```",
    )
    const answer = lines("```markdown", document, "```", "", "Prose.", "```py", "y", "```")
    expect(codeFences(answer)).toEqual([
      { language: "markdown", code: document },
      { language: "py", code: "y" },
    ])
    // Of any other language such a line is text.
    expect(codeFences(lines("```python", "```sh", "```", "out"))).toEqual([
      { language: "python", code: "```sh" },
    ])
  })

  it("does not run into the rest of an answer when a document inside is never closed", () => {
    const answer = lines("```md", "```python", "x", "```", "Prose.")
    expect(codeFences(answer)).toEqual([{ language: "md", code: lines("```python", "x", "```", "Prose.") }])
  })

  it("does not end a block at a fence with something behind it, or far inside", () => {
    const code = lines("s = '''", "```js", "    ```", "'''")
    expect(codeFences(lines("```python", code, "```"))).toEqual([{ language: "python", code }])
  })

  it.each([
    [lines("  ```py", "  if x:", "    y", "  ```")],
    [lines("      ```py", "      if x:", "        y", "      ```")],
    [lines("\t```py", "\tif x:", "\t  y", "\t```")],
    [lines("- ```py", "  if x:", "    y", "  ```")],
    [lines("10. a", "    1) ```py", "       if x:", "         y", "       ```")],
    [lines("> ```py", "> if x:", ">   y", "> ```")],
    [lines(">```py", ">if x:", ">   y", ">```")],
    [lines("> > ```py", "> > if x:", "> >   y", "> > ```")],
    [lines("> - ```py", ">   if x:", ">     y", ">   ```")],
  ])("takes the indentation off %j", (markdown) => {
    expect(codeFences(markdown)).toEqual([{ language: "py", code: "if x:\n  y" }])
  })

  it("takes off no more than there is", () => {
    expect(codeFences(lines("   ```py", "a", "  b", "     c", "```"))).toEqual([
      { language: "py", code: "a\nb\n  c" },
    ])
    expect(codeFences(lines("- ```yaml", "- a: 1", "```"))).toEqual([{ language: "yaml", code: "- a: 1" }])
    expect(codeFences(lines("```", "> a", "```"))).toEqual([{ language: "", code: "> a" }])
  })

  it("ends a block with the quote that it is in", () => {
    const quoted = lines("> ```py", "> a", "", "> b", "", "out", "```sh", "ls", "```")
    expect(codeFences(quoted)).toEqual([
      { language: "py", code: "a\n\nb" },
      { language: "sh", code: "ls" },
    ])
    expect(codeFences(lines("> ```py", "> a", "```sh", "ls", "```")).map(({ code }) => code)).toEqual([
      "a",
      "ls",
    ])
  })

  it("leaves out what is cited, when it is told to", () => {
    const answer = lines("They wrote:", "> ```sh", "> rm -rf .", "> ```", "- > ~~~", "```py", "> a", "```")
    expect(codeFences(answer, { quoted: false })).toEqual([{ language: "py", code: "> a" }])
    expect(codeFences(lines("> > ```py", "> > a"), { quoted: false })).toEqual([])
  })

  it("finds nothing in comments, which nobody sees", () => {
    const answer = lines(
      "<!--",
      "```py",
      "a",
      "```",
      "--> b",
      "```py",
      "<!-- c",
      "```",
      "  <!-- d -->",
      "```",
      "e",
    )
    expect(codeFences(answer).map(({ code }) => code)).toEqual(["<!-- c", "e"])
    expect(codeFences(lines("<!-- ", "```py", "a", "```"))).toEqual([])
  })

  it("takes a block that is never closed to the end, unless it is empty", () => {
    expect(codeFences(lines("```py", "a", "  b", ""))).toEqual([{ language: "py", code: "a\n  b" }])
    expect(codeFences(lines("```py", "a", "```", "", "```", ""))).toEqual([{ language: "py", code: "a" }])
    expect(codeFences("```py")).toEqual([])
  })

  it("keeps an empty block that is closed", () => {
    expect(codeFences("```py\n```")).toEqual([{ language: "py", code: "" }])
  })

  it("gives back any code that a long enough fence was put around", () => {
    const line = fc.oneof(fc.constantFrom("```", "~~~", "````py", "> ", "- ```", "", "    "), fc.string())
    fc.assert(
      fc.property(
        fc.array(line, { minLength: 1 }),
        fc.constantFrom("", "  ", "\t", "> ", "> > "),
        (parts, prefix) => {
          const code = parts.join("\n").replaceAll("\r", "")
          const longest = Math.max(2, ...(code.match(/`+/g) ?? []).map((run) => run.length))
          const fence = "`".repeat(longest + 1)
          const markdown = lines(`${fence}py`, ...code.split("\n"), fence)
            .split("\n")
            .map((each) => prefix + each)
            .join("\n")
          expect(codeFences(`text\n${markdown}\ntext`)).toEqual([{ language: "py", code }])
        },
      ),
      { numRuns: 300 },
    )
  })

  // Each of these takes minutes where the time grows with the square of the length.
  it.each([
    ["`".repeat(1 << 20), 0],
    ["```\n".repeat(1 << 17), 1 << 16],
    ["```a\n".repeat(1 << 18), 1],
    ["```md\n".repeat(1 << 18), 1],
    ["``` `\n".repeat(1 << 18), 0],
    [`${"> ".repeat(1 << 19)}\`\`\``, 0],
    [`${"- ".repeat(1 << 19)}\`\`\`\nx`, 1],
    [`${" ".repeat(1 << 20)}\`\`\`\nx`, 1],
    [`> \`\`\`\n> x${"\n".repeat(1 << 20)}x`, 1],
  ])("reads a megabyte of hostile text: case %#", (markdown, count) => {
    expect(codeFences(markdown)).toHaveLength(count)
  })
})
