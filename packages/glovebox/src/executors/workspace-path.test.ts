import { posix } from "node:path"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { failureOf } from "../core/failure-of.test-kit.ts"
import { GloveboxError } from "../core/index.ts"
import { workspacePath } from "./workspace-path.ts"

function pathOf(name: string): string | undefined {
  try {
    return workspacePath(name)
  } catch (error) {
    if (GloveboxError.is(error, "CODE_FILE_REFUSED")) return undefined
    throw error
  }
}

describe("workspacePath", () => {
  it.each([
    ["main.py", "main.py"],
    ["src/main.py", "src/main.py"],
    ["a/./b//c", "a/b/c"],
    ["./a", "a"],
    ["~", "~"],
    ["~root/x", "~root/x"],
    ["a b.py", "a b.py"],
    ["...", "..."],
    ["..a/b..", "..a/b.."],
    [".env", ".env"],
    ["-x", "-x"],
    ["ab:c", "ab:c"],
    ["größe/文件.py", "größe/文件.py"],
    ["👩‍💻.py", "👩‍💻.py"],
    [Array(32).fill("a").join("/"), Array(32).fill("a").join("/")],
    ["é".repeat(127), "é".repeat(127)],
  ])("takes %j as %j", (name, path) => {
    expect(workspacePath(name)).toBe(path)
  })

  it.each([
    ["", "it is empty"],
    [" ", "it is empty"],
    ["/etc/passwd", "it is absolute"],
    ["//x", "it is absolute"],
    ["C:\\tmp\\x.py", "it is absolute"],
    ["c:x.py", "it is absolute"],
    ["C:/x", "it is absolute"],
    [".//./C:/x", "it is absolute"],
    ["\\\\server\\share", "it is absolute"],
    ["a\\b", "it has a backslash"],
    ["..", "it has a .. in it"],
    ["../x", "it has a .. in it"],
    ["a/../b", "it has a .. in it"],
    ["a/..", "it has a .. in it"],
    ["./../x", "it has a .. in it"],
    [".glovebox/audit.jsonl", "it is in a folder of Glovebox's own"],
    ["a/.GloveBox/x", "it is in a folder of Glovebox's own"],
    [".", "it is the workspace itself"],
    ["./.", "it is the workspace itself"],
    ["a/", "it is a folder"],
    ["a/.", "it is a folder"],
    ["a\0b", "it has the character U+0000"],
    ["a\nb", "it has the character U+000A"],
    ["a\u009b", "it has the character U+009B"],
    ["a\u2028", "it has the character U+2028"],
    ["a\u202Eyp.x", "it has the character U+202E"],
    ["\u200Fa", "it has the character U+200F"],
    ["\u061Ca", "it has the character U+061C"],
    ["a\u2066", "it has the character U+2066"],
    ["a\uD800b", "it has the character U+D800"],
    ["é".repeat(128), "a part of it has more than 255 bytes"],
    [Array(33).fill("a").join("/"), "it is more than 32 folders deep"],
    ["abcdefg/".repeat(128) + "x", "it has more than 1024 bytes"],
    [undefined as never, "it is not a string"],
  ])("refuses %j", (name, reason) => {
    const failure = failureOf(() => workspacePath(name))
    expect(failure).toMatch(/^CODE_FILE_REFUSED: The file name /)
    expect(failure).toContain(` is refused: ${reason}. Use a path below`)
  })

  it("shows no character that would rearrange the message", () => {
    expect(failureOf(() => workspacePath("a\u202E\u009bb"))).toContain('"aU+202EU+009Bb"')
  })

  it("never leads out of the workspace, and changes nothing the second time", () => {
    const part = fc.oneof(fc.constantFrom("..", ".", "", "\\", "C:", "~", "/"), fc.string())
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const path = pathOf(parts.join("/"))
        fc.pre(path !== undefined)
        expect(posix.resolve("/workspace", path)).toBe(`/workspace/${path}`)
        expect(workspacePath(path)).toBe(path)
      }),
      { numRuns: 500 },
    )
  })
})
