import { describe, expect, it } from "vitest"
import { tellOutputs } from "./tell-outputs.ts"

const one = { size: 3, isRenamed: false }

describe("tellOutputs", () => {
  it("tells of each file what became of it, first of those that are missing", () => {
    expect(
      tellOutputs(
        [
          { ...one, path: ".env", file: undefined },
          { ...one, path: "a\u200b.md", file: "/out/a\u200b-2.md", isRenamed: true },
          { ...one, path: "b.md", file: undefined, failure: "ENOSPC: no space left" },
        ],
        "/out",
      ),
    ).toEqual([
      "b.md could not be written: ENOSPC: no space left",
      "wrote /out/a<U+200B>-2.md (3B), because there is another a<U+200B>.md",
      "left out .env: hidden files are not brought out",
    ])
  })

  it("does not tell of thousands one by one", () => {
    const files = Array.from({ length: 4000 }, (_, n) => ({ ...one, path: `${n}`, file: `/out/${n}` }))
    const lines = tellOutputs(files, "/out")
    expect(lines.length).toBeLessThan(30)
    expect(lines.at(-1)).toMatch(/^and 39\d\d more files of the code; see \/out$/)
  })
})
