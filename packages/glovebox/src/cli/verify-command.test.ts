import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { main } from "./main.ts"

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

const verify = (...args: string[]): Promise<number> => main(["node", "glovebox", "verify", ...args])

describe("glovebox verify", () => {
  it("lists what it would try, one line each, without a sandbox", async () => {
    expect(await verify("--list")).toBe(0)
    expect(out.length).toBeGreaterThanOrEqual(65)
    expect(out[0]).toMatch(/^fs\.write-root +quick +BLOCKED +write a file/)
    expect(err).toEqual([])
  })

  it("lists the probes of a policy, as JSON too", async () => {
    const folder = mkdtempSync(join(tmpdir(), "glovebox-verify-list-"))
    try {
      const file = join(folder, "policy.yaml")
      writeFileSync(file, "readOnlyRoot: false\n")
      expect(await verify("--list", "--json", "--policy", file)).toBe(0)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
    const probes = JSON.parse(out.join("")) as { id: string; expected: string }[]
    expect(probes.find(({ id }) => id === "fs.write-root")?.expected).toBe("ALLOWED")
  })

  it("exits with 2 for a wrong command line, and says what is wrong with it", async () => {
    const wrong = [
      [["--sandbox", "local"], "Allowed choices are docker, jupyter"],
      [["--path", "warm"], "Allowed choices are cold, pooled, session"],
      [["--quick", "--full"], "cannot be used with"],
      [["--only", "fs.write-root,"], "an empty name"],
      [["--only", "fs.writeroot"], "did you mean fs.write-root?"],
      [["--preset", "none"], "Allowed choices are autogen-default"],
      [["--preset", "autogen-default", "--list"], "cannot be used with"],
      [["--preset", "autogen-default", "--sandbox", "wasm"], "is of containers"],
    ] as const
    for (const [args, message] of wrong) {
      err.length = 0
      expect(await verify(...args)).toBe(2)
      expect(err.join("")).toContain(message)
    }
    expect(out).toEqual([])
  })

  it("exits with 1 when there is no sandbox to attack", async () => {
    expect(await verify("--docker-host", "unix:///nonexistent/docker.sock")).toBe(1)
    expect(err.join("")).toContain("/nonexistent/docker.sock")
  })
})
