import { beforeAll, describe, expect, it } from "vitest"
import type { HealthCheck } from "./health-check.ts"
import { IMAGE, buildCommand, glovebox } from "./glovebox.test-kit.ts"

beforeAll(buildCommand)

interface Report {
  readonly canRun: boolean
  readonly checks: readonly HealthCheck[]
}

async function report(...args: string[]): Promise<Report & { readonly code: number | null }> {
  const { code, stdout } = await glovebox(["doctor", "--json", ...args])
  return { code, ...(JSON.parse(stdout) as Report) }
}

describe("glovebox doctor", () => {
  it("runs code and reads the wall back where all is there", async () => {
    const { code, canRun, checks } = await report("--image", IMAGE)
    expect([code, canRun]).toEqual([0, true])
    expect(checks.map(({ name }) => name)).toEqual(
      "node engine cgroups storage runtime image leftovers sandbox limits".split(" "),
    )
    expect(checks.filter(({ status }) => status === "fail")).toEqual([])
    const effective = checks.at(-1)?.details?.["effective"]
    expect(effective).toMatchObject({ network: "none", readOnlyRoot: true, capabilities: [], pids: 128 })
    expect(checks.at(-2)?.details).toMatchObject({
      coldMs: expect.any(Number) as number,
      pooledMs: expect.any(Number) as number,
    })
  })

  it("says what to do without an engine, and exits with 1", async () => {
    const { code, stdout, stderr } = await glovebox(["doctor", "--docker-host", "unix:///nonexistent.sock"])
    expect([code, stderr]).toEqual([1, ""])
    expect(stdout).toContain("fail  engine     unix:///nonexistent.sock (by --docker-host): does not answer")
    expect(stdout).toContain("-> install and start Docker")
    expect(stdout).toContain("Code cannot run in the sandbox")
    expect(stdout).not.toContain("\u001B")
  })

  it("says what to do without the image, and exits with 1", async () => {
    const { code, canRun, checks } = await report("--image", "glovebox/none:1")
    expect([code, canRun]).toEqual([1, false])
    const { status, remedy } = checks.find(({ name }) => name === "image") ?? {}
    expect([status, remedy]).toEqual(["fail", expect.stringContaining("docker pull glovebox/none:1")])
  })
})
