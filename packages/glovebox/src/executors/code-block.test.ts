import { describe, expect, it } from "vitest"
import { failureOf } from "../core/failure-of.test-kit.ts"
import { checkCodeBlocks } from "./code-block.ts"

const block = { code: "print(1)", language: "python" }

describe("checkCodeBlocks", () => {
  it("takes blocks, whatever their code is", () => {
    expect(() =>
      checkCodeBlocks([block, { code: "", language: "" }, { code: "\0", language: "sh" }]),
    ).not.toThrow()
  })

  it.each([
    [undefined, "The code blocks are undefined. Pass a list of { code, language }."],
    [
      block,
      'The code blocks are {"code":"print(1)","language":"python"}. Pass a list of { code, language }.',
    ],
    [[], "The list of code blocks is empty. Pass at least one."],
    [[block, "print(1)"], 'blocks[1] is "print(1)". Pass { code, language }.'],
    [[null], "blocks[0] is null. Pass { code, language }."],
    [Array.of(block).concat(Array(1) as never), "blocks[1] is undefined. Pass { code, language }."],
    [[{ language: "python" }], "blocks[0].code is undefined. Pass the code as a string."],
    [[{ ...block, code: 5 }], "blocks[0].code is 5. Pass the code as a string."],
    [[block, { code: "" }], 'blocks[1].language is undefined. Pass a name such as "python".'],
    [[{ ...block, language: ["python"] }], 'blocks[0].language is ["python"]. Pass a name such as "python".'],
  ])("refuses %j", (blocks, message) => {
    expect(failureOf(() => checkCodeBlocks(blocks))).toBe(`CODE_BLOCK_INVALID: ${message}`)
  })
})
