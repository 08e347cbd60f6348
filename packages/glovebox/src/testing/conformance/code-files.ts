import assert from "node:assert/strict"
import { rejectsWith, succeed } from "../expectations.ts"
import { python } from "../programs.ts"
import type { Suite } from "../suite.ts"

const ESCAPES = [
  "../x.py",
  "/etc/x.py",
  "a/../../x.py",
  "..",
  ".",
  "a/",
  String.raw`C:\x.py`,
  String.raw`..\x.py`,
  "-c",
  "",
  "x\u202Eyp.py",
  `${"d/".repeat(40)}x.py`,
  `${"n".repeat(300)}.py`,
]

/** The files that code is written to. */
export function defineCodeFiles({ it, itIf, shared, subject, programs }: Suite): void {
  const named = (directive: string, rest = ""): { code: string; language: string } => ({
    language: programs.language,
    code: `${directive}\n${rest}`,
  })

  it("a comment in the first line names the file, in any of its forms", async () => {
    const comments = {
      "# filename: hash.txt": "hash.txt",
      '#filename:"quoted name.txt"': "quoted name.txt",
      "# FileName: ./dotted//file.txt": "dotted/file.txt",
      "#!/usr/bin/env python3\n# filename: second.txt": "second.txt",
    }
    const result = await succeed(shared(), ...Object.keys(comments).map((directive) => named(directive)))
    assert.deepEqual(
      result.blocks.map(({ codeFile }) => codeFile),
      Object.values(comments),
    )
    // Comments of other languages: the program cannot run them, but the file has its name.
    for (const [directive, file] of [
      ["// filename: slashes.txt", "slashes.txt"],
      ["<!-- filename: markup.txt -->", "markup.txt"],
    ] as const) {
      assert.equal((await shared().executeCodeBlocks([named(directive)])).codeFile, file)
    }
  })

  it("the folders above a named file are made, and later blocks find the file", async () => {
    const code = programs.print("inner").code
    const { stdout, codeFile } = await succeed(
      shared(),
      named("# filename: src/deep/down/main.txt", code),
      programs.show("src/deep/down/main.txt"),
    )
    assert.equal(codeFile, "src/deep/down/main.txt")
    assert.equal(stdout, `inner# filename: src/deep/down/main.txt\n${code}`)
  })

  itIf(subject.features.files, "a named file is there in later calls", async () => {
    await succeed(shared(), named("# filename: kept-name.txt", programs.print("").code))
    assert.match((await succeed(shared(), programs.show("kept-name.txt"))).stdout, /kept-name/)
  })

  itIf(programs.language === "python", "a named module is imported by later code", async () => {
    const module = python("# filename: tools/helper.py\nanswer = 42")
    const { stdout } = await succeed(
      shared(),
      module,
      python("from tools.helper import answer\nprint(answer)"),
    )
    assert.equal(stdout, "42\n")
  })

  it("a name outside the workspace is refused before anything runs", async () => {
    for (const name of ESCAPES) {
      const blocks = [programs.write("ran-first.txt", "x"), named(`# filename: ${name}`)]
      await rejectsWith(shared().executeCodeBlocks(blocks), "CODE_FILE_REFUSED")
    }
    assert.equal((await succeed(shared(), programs.show("ran-first.txt"))).stdout, "absent")
  })

  it("one file can be written again with other code, in the same call and the next", async () => {
    const name = "# filename: again.txt"
    const { stdout } = await succeed(
      shared(),
      named(name, programs.print("1").code),
      named(name, programs.print("2").code),
    )
    assert.equal(stdout, "12")
    assert.equal((await succeed(shared(), named(name, programs.print("3").code))).stdout, "3")
  })

  it("code of some megabytes arrives whole before it runs", async () => {
    const filler = `${programs.comment} ${"x".repeat(98)}\n`.repeat(35_000)
    const code = `${programs.print("start").code}\n${filler}${programs.print(" end").code}\n`
    const { stdout } = await succeed(shared(), { language: programs.language, code })
    assert.equal(stdout, "start end")
  })

  it("code may have Windows line ends, or no line at all", async () => {
    const code = `${programs.print("a").code}${programs.language === "python" ? "\r\n" : "\n"}${programs.print("b").code}`
    assert.equal((await succeed(shared(), { ...programs.empty, code })).stdout, "ab")
    assert.equal((await succeed(shared(), programs.empty)).output, "")
  })
}
