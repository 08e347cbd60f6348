import { beforeAll, describe, expect, it } from "vitest"
import type { HealthCheck } from "./health-check.ts"
import { IMAGE, NO_ENGINE, buildCommand, glovebox } from "./glovebox.test-kit.ts"

beforeAll(buildCommand)

interface Report {
  readonly canRun: boolean
  readonly sandboxes: readonly string[]
  readonly checks: readonly HealthCheck[]
}

async function report(...args: string[]): Promise<Report & { readonly code: number | null }> {
  const { code, stdout } = await glovebox(["doctor", "--json", ...args])
  return { code, ...(JSON.parse(stdout) as Report) }
}

describe("glovebox doctor", () => {
  it("runs code in every sandbox, and reads Docker's wall back, where all is there", async () => {
    const { code, canRun, checks, sandboxes } = await report("--image", IMAGE)
    expect([code, canRun, sandboxes]).toEqual([0, true, ["docker", "jupyter", "bubblewrap", "wasm"]])
    expect(checks.map(({ name }) => name)).toEqual(
      "node engine cgroups storage runtime image leftovers docker limits jupyter bubblewrap wasm local".split(
        " ",
      ),
    )
    expect(checks.filter(({ status }) => status === "fail")).toEqual([])
    const details = (name: string): unknown => checks.find((check) => check.name === name)?.details
    expect(details("limits")).toMatchObject({
      effective: { network: "none", readOnlyRoot: true, capabilities: [], pids: 128 },
    })
    expect(details("docker")).toMatchObject({
      coldMs: expect.any(Number) as number,
      pooledMs: expect.any(Number) as number,
    })
    expect(details("wasm")).toEqual({ ms: expect.any(Number) as number })
    expect(checks.at(-1)).toMatchObject({ name: "local", status: "off" })
  })

  it("finds the sandboxes that need no engine, says what to do about the others, and exits with 0", async () => {
    const { code, stdout } = await glovebox(["doctor", "--json"], "", NO_ENGINE)
    const { canRun, sandboxes, checks } = JSON.parse(stdout) as Report
    expect([code, canRun, sandboxes]).toEqual([0, true, ["bubblewrap", "wasm"]])
    for (const tier of ["engine", "jupyter"]) {
      expect(checks.find(({ name }) => name === tier)).toMatchObject({
        status: "off",
        remedy: expect.stringContaining("install and start Docker") as string,
      })
    }
  })

  it("looks at one alone where that is asked for, which has to work", async () => {
    const works = await report("--sandbox", "wasm")
    expect([works.code, works.checks.map(({ name }) => name)]).toEqual([0, ["node", "wasm"]])
    const fails = await glovebox(["doctor", "--sandbox", "jupyter"], "", NO_ENGINE)
    expect(fails.code).toBe(1)
    expect(fails.stdout).toMatch(/fail {2}jupyter {4}no Docker engine answers[^]*Code can run in no sandbox/)
  })

  it("says what to do without an engine, and exits with 1", async () => {
    const { code, stdout, stderr } = await glovebox(["doctor", "--docker-host", "unix:///nonexistent.sock"])
    expect([code, stderr]).toEqual([1, ""])
    expect(stdout).toContain("fail  engine     unix:///nonexistent.sock (by --docker-host): does not answer")
    expect(stdout).toContain("-> install and start Docker")
    expect(stdout).toContain("Code can run in bubblewrap, wasm: see the lines with fail.")
    expect(stdout).not.toContain("\u001B")
  })

  it("says what to do without the image, and exits with 1", async () => {
    const { code, canRun, checks } = await report("--sandbox", "docker", "--image", "glovebox/none:1")
    expect([code, canRun]).toEqual([1, false])
    const { status, remedy } = checks.find(({ name }) => name === "image") ?? {}
    expect([status, remedy]).toEqual(["fail", expect.stringContaining("docker pull glovebox/none:1")])
  })
})
