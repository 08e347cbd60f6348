import assert from "node:assert/strict"
import type { CodeBlock } from "../../executors/index.ts"
import { rejectsWith, stillWorks, succeed } from "../expectations.ts"
import { programsIn } from "../programs.ts"
import type { Suite } from "../suite.ts"

/** Which program runs a block, and what is refused before anything runs. */
export function defineLanguages({ it, itIf, shared, subject, programs }: Suite): void {
  const { missing } = subject

  it("a language is found by its name and aliases, in any case", async () => {
    const blocks = programs.aliases.map((language) => ({ ...programs.print("x"), language }))
    const result = await succeed(shared(), ...blocks)
    assert.equal(result.stdout, "x".repeat(blocks.length))
    assert.deepEqual(
      result.blocks.map(({ language }) => language),
      programs.aliases,
    )
  })

  it("each of its languages runs, and sees the files of the others", async () => {
    const blocks = subject.languages.flatMap((language) => {
      const isShell = ["sh", "bash"].includes(language)
      const { code } = programsIn([isShell ? "sh" : language]).write("ran.txt", `${language} `)
      return [{ language, code }, programs.show("ran.txt")]
    })
    const { stdout } = await succeed(shared(), ...blocks)
    assert.equal(stdout, subject.languages.map((language) => `${language} `).join(""))
  })

  it("a language that nobody knows is refused before anything runs", async () => {
    for (const language of ["klingon", "", "python -c", "pythonX/../y", "../python", "sh\n"]) {
      if (language === "sh\n" && (subject.languages.includes("sh") || missing?.language === "sh")) continue
      const blocks = [programs.write("ran-first.txt", "x"), { code: "x", language }]
      await rejectsWith(shared().executeCodeBlocks(blocks), "LANGUAGE_UNKNOWN")
    }
    assert.equal((await succeed(shared(), programs.show("ran-first.txt"))).stdout, "absent")
  })

  itIf(
    missing !== undefined,
    "a language without its program is refused, saying what to install where",
    async () => {
      if (!missing) return
      await succeed(shared(), programs.write("before.txt", "kept"))
      const blocks = [programs.write("ran-first.txt", "x"), { code: "x", language: missing.language }]
      await rejectsWith(shared().executeCodeBlocks(blocks), "LANGUAGE_UNAVAILABLE", missing.names)
      assert.equal((await succeed(shared(), programs.show("ran-first.txt"))).stdout, "absent")
      if (subject.features.files) {
        assert.equal((await succeed(shared(), programs.show("before.txt"))).stdout, "kept")
      }
    },
  )

  it("what is no list of code blocks is refused", async () => {
    const wrong: unknown[] = [
      [],
      undefined,
      null,
      "print(1)",
      [{}],
      [null],
      [{ code: 1, language: programs.language }],
      [{ code: "x" }],
      // A hole.
      Array.from({ length: 1 }),
      [programs.print("x"), undefined],
    ]
    for (const blocks of wrong) {
      await rejectsWith(shared().executeCodeBlocks(blocks as CodeBlock[]), "CODE_BLOCK_INVALID")
      await rejectsWith(
        shared()
          .stream(blocks as CodeBlock[])
          .next(),
        "CODE_BLOCK_INVALID",
      )
    }
    await stillWorks(shared(), programs.print)
  })
}
