import { describe, expect, it } from "vitest"
import { failureOf } from "../core/failure-of.test-kit.ts"
import { codeFileName } from "./code-file.ts"
import { languageTable } from "./languages.ts"

const { lookup } = languageTable()
const nameOf = (code: string, language = "python"): ReturnType<typeof codeFileName> =>
  codeFileName({ code, language }, lookup(language))

describe("codeFileName", () => {
  it("takes the name that the code gives itself", () => {
    expect(nameOf("# filename: ./src//x.py\n")).toEqual({ path: "src/x.py", named: true })
  })

  it("is the hash of the code otherwise, with the language's extension", () => {
    expect(nameOf("abc", "Shell")).toEqual({
      path: "tmp_code_ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad.sh",
      named: false,
    })
  })

  it.each([
    ["# filename: ../x.py", "it has a .. in it"],
    ["# filename: /etc/passwd", "it is absolute"],
    ["# filename:", "it is empty"],
    ["# filename: -c", "it starts with a dash"],
    ["# filename: ./--version", "it starts with a dash"],
  ])("refuses %j", (code, reason) => {
    expect(failureOf(() => nameOf(code))).toMatch(new RegExp(`^CODE_FILE_REFUSED: .* is refused: ${reason}`))
  })
})
