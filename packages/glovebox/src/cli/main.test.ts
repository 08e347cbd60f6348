import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { main } from "./main.ts"
import { version } from "./version.ts"

const out: string[] = []
const err: string[] = []

beforeEach(() => {
  out.length = 0
  err.length = 0
  vi.spyOn(process.stdout, "write").mockImplementation((text) => out.push(String(text)) > 0)
  vi.spyOn(process.stderr, "write").mockImplementation((text) => err.push(String(text)) > 0)
})

afterEach(() => {
  vi.restoreAllMocks()
})

const glovebox = (...args: string[]): Promise<number> => main(["node", "glovebox", ...args])

describe("glovebox", () => {
  it("prints help for --help and for nothing at all", async () => {
    expect([await glovebox("--help"), await glovebox()]).toEqual([0, 0])
    expect(out).toHaveLength(2)
    expect(out[0]).toContain("Usage: glovebox")
    expect(out[1]).toBe(out[0])
  })

  it("prints the version of the package", async () => {
    expect(await glovebox("--version")).toBe(0)
    expect(out).toEqual([`${version()}\n`])
    expect(version()).toMatch(/^\d+\.\d+\.\d+/)
  })

  it("says what is wrong with what it does not know, and exits with 2", async () => {
    expect(await glovebox("--frobnicate")).toBe(2)
    expect(err.join("")).toContain("unknown option '--frobnicate'")
    expect(await glovebox("frobnicate")).toBe(2)
    expect(err.join("")).toContain("unknown command 'frobnicate'")
    expect(out).toEqual([])
  })
})
