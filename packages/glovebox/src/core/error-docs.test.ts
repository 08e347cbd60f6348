import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { ERROR_CODES } from "./glovebox-error.ts"

describe("docs/errors.md", () => {
  it("explains every code, and no other, in order", () => {
    const page = readFileSync(new URL("../../../../docs/errors.md", import.meta.url), "utf8")
    const explained = [...page.matchAll(/^\| `([A-Z_]+)` +\|/gm)].map(([, code]) => code)
    expect(explained).toEqual([...ERROR_CODES])
    expect(ERROR_CODES).toEqual(ERROR_CODES.toSorted())
  })
})
