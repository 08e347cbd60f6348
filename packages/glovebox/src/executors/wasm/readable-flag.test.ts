import { describe, expect, it } from "vitest"
import { readableFlag } from "./readable-flag.ts"

describe("what the embedded sandbox's process may read", () => {
  it("is a folder", () => {
    expect(readableFlag("/srv/app/node_modules/x")).toBe("--allow-fs-read=/srv/app/node_modules/x/*")
  })

  it("is nothing where the folder's name would stand for more", () => {
    for (const folder of ["/srv/a*/x", "/srv/a,/etc"]) {
      expect(() => readableFlag(folder)).toThrow(expect.objectContaining({ code: "SANDBOX_SETUP_FAILED" }))
    }
  })
})
