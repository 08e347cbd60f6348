import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { VerifyReport } from "../verify/index.ts"
import { IMAGE, buildCommand, glovebox } from "./glovebox.test-kit.ts"

const HAS_NO_DOCKER = process.env["GLOVEBOX_TEST_DOCKER"] === "unavailable"

let folder = ""

function policy(name: string, text: string): string {
  const file = join(folder, name)
  writeFileSync(file, `image: ${IMAGE}\nruntime: runc\n${text}`)
  return file
}

describe.skipIf(HAS_NO_DOCKER)("glovebox verify, with Docker", () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "glovebox-verify-command-"))
    await buildCommand()
  })

  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it("prints a table, and exits with 0 when all is as the policy expects", async () => {
    const only = ["fs.write-root", "net.host", "res.processes"]
    const file = policy("closed.yaml", "")
    const { code, stdout, stderr } = await glovebox(["verify", "--policy", file, "--only", only.join(",")])
    expect([code, stderr]).toEqual([0, ""])
    expect(stdout).toMatch(/^policy {3}sha256:[0-9a-f]{64}$/m)
    for (const id of only) expect(stdout).toMatch(new RegExp(`^ok +${id} +BLOCKED +BLOCKED `, "m"))
    expect(stdout).toMatch(/\nAll 3 probes as the policy expects \(/)
  })

  it("prints JSON and writes JUnit, and exits with 1 when something differs", async () => {
    // Nobody is there, so that what the policy allows cannot be had.
    const file = policy("open.yaml", "network: { allow: ['gone.glovebox.invalid:443'] }\n")
    const junit = join(folder, "report.xml")
    const only = "net.allowed:gone.glovebox.invalid:443,net.interfaces"
    const { code, stdout } = await glovebox([
      "verify",
      "--policy",
      file,
      "--only",
      only,
      "--json",
      "--junit",
      junit,
    ])
    expect(code).toBe(1)
    const report = JSON.parse(stdout) as VerifyReport
    expect(report).toMatchObject({
      pass: false,
      path: "cold",
      runtime: "runc",
      probes: [
        {
          id: "net.allowed:gone.glovebox.invalid:443",
          expected: "ALLOWED",
          observed: "BLOCKED",
          pass: false,
        },
        { id: "net.interfaces", expected: "BLOCKED", observed: "BLOCKED", pass: true },
      ],
    })
    expect(readFileSync(junit, "utf8")).toContain(`tests="2" failures="1" errors="0"`)
  })
})
