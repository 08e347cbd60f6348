import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest"
import { SandboxPolicy, parsePolicy } from "../policy/index.ts"
import { main } from "./main.ts"

let folder = ""
let out = ""
let err = ""

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "glovebox-cli-"))
  await writeFile(join(folder, "closed.yaml"), "image: python:3-slim\n")
  await writeFile(join(folder, "wide.yaml"), "limits: { memory: 1GiB }\nenv: { TOKEN: hidden }\n")
  await writeFile(join(folder, "bad.yaml"), "limits:\n  memroy: 1GiB\n")
  await writeFile(join(folder, "mount.yaml"), "mounts: [{ source: /etc, target: /data }]\n")
})

afterAll(async () => {
  await rm(folder, { recursive: true })
})

beforeEach(() => {
  out = ""
  err = ""
  vi.spyOn(process.stdout, "write").mockImplementation((text) => (out += String(text)) !== "")
  vi.spyOn(process.stderr, "write").mockImplementation((text) => (err += String(text)) !== "")
})

afterEach(() => {
  vi.restoreAllMocks()
})

const policy = (...args: string[]): Promise<number> =>
  main([
    "node",
    "glovebox",
    "policy",
    ...args.map((arg) => (arg.endsWith(".yaml") ? join(folder, arg) : arg)),
  ])

describe("glovebox policy show", () => {
  it("prints a policy that reads back as the same", async () => {
    expect(await policy("show", "wide.yaml")).toBe(0)
    expect(parsePolicy(out).sha256).toBe(
      new SandboxPolicy({ limits: { memory: "1GiB" }, env: { TOKEN: "hidden" } }).sha256,
    )
    expect(out).toMatch(/^# sha256 [0-9a-f]{64}\n/)
    expect(out).toContain("memory: 1GiB")
  })

  it("prints deny-all without a file, as JSON too", async () => {
    expect(await policy("show", "--json")).toBe(0)
    expect(JSON.parse(out)).toEqual({
      sha256: new SandboxPolicy().sha256,
      policy: new SandboxPolicy().toJSON(),
    })
  })
})

describe("glovebox policy check", () => {
  it("lists what is wider than deny-all", async () => {
    expect(await policy("check", "closed.yaml")).toBe(0)
    expect(out).toContain("It denies all.")
    out = ""
    expect(await policy("check", "wide.yaml")).toBe(0)
    expect(out).toContain("widens   limits.memory: 512MiB -> 1GiB\n")
    expect(out).not.toContain("hidden")
  })

  it("exits with 1 and points at what is wrong", async () => {
    expect(await policy("check", "bad.yaml")).toBe(1)
    expect(err).toMatch(/bad\.yaml:2:\d+: limits\.memroy: .*did you mean "memory"/)
    expect(await policy("check", "mount.yaml")).toBe(1)
    expect(err).toContain("The mount of /etc is refused")
    expect(await policy("check", "none.yaml")).toBe(1)
    expect(err).toContain("cannot be read")
    expect(out).toBe("")
  })
})

describe("glovebox policy diff", () => {
  it("lists each change, and fails on a widening only when asked", async () => {
    expect(await policy("diff", "closed.yaml", "wide.yaml")).toBe(0)
    expect(out.trim().split("\n")).toHaveLength(2)
    expect(await policy("diff", "closed.yaml", "wide.yaml", "--fail-on-widening")).toBe(1)
    expect(await policy("diff", "wide.yaml", "closed.yaml", "--fail-on-widening")).toBe(0)
    out = ""
    expect(await policy("diff", "closed.yaml", "closed.yaml", "--json")).toBe(0)
    expect(JSON.parse(out)).toEqual({ changes: [] })
  })
})

describe("glovebox policy", () => {
  it("exits with 2 when it is called wrongly", async () => {
    expect(await policy("check")).toBe(2)
    expect(await policy("frobnicate")).toBe(2)
    expect(await policy("diff", "closed.yaml")).toBe(2)
    expect(err).toContain("error:")
  })
})
