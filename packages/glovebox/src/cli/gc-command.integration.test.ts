import { randomUUID } from "node:crypto"
import { afterEach, beforeAll, describe, expect, it } from "vitest"
import { ownerLabels } from "../executors/docker/ownership.ts"
import { IMAGE, buildCommand, docker, glovebox } from "./glovebox.test-kit.ts"

beforeAll(buildCommand)

const planted: string[] = []

afterEach(async () => {
  for (const id of planted.splice(0)) await docker("rm", "--force", id).catch(() => {})
})

async function plant(name: string, labels: Readonly<Record<string, string>>): Promise<string> {
  const all = { "org.glovebox.container": name, ...labels }
  const options = Object.entries(all).flatMap(([key, value]) => ["--label", `${key}=${value}`])
  const id = await docker("create", "--name", name, "--network", "none", ...options, IMAGE, "true")
  planted.push(id)
  return id
}

const mine = (): Record<string, string> =>
  ownerLabels({ owner: randomUUID(), policySha256: "", isKept: false })
const DEAD = { "org.glovebox.process": "999999999:1" }

const exists = async (id: string): Promise<boolean> =>
  docker("inspect", "--format", "{{.Id}}", id).then(
    () => true,
    () => false,
  )

describe("glovebox gc", () => {
  // An executor that starts elsewhere on this machine sweeps the orphan too.
  it("removes the containers of dead processes, and no others", { retry: 3 }, async () => {
    const suffix = randomUUID().slice(0, 8)
    const name = `gc-test-orphan-${suffix}`
    const others = await Promise.all([
      plant(`gc-test-foreign-${suffix}`, {}),
      plant(`gc-test-alive-${suffix}`, mine()),
      plant(`gc-test-kept-${suffix}`, { ...mine(), ...DEAD, "org.glovebox.keep": "true" }),
      plant(`gc-test-elsewhere-${suffix}`, { ...mine(), ...DEAD, "org.glovebox.host": "elsewhere" }),
    ])
    const orphan = await plant(name, { ...mine(), ...DEAD })
    const line = `remove container ${name} (created): the process that made it has ended\n`

    const dry = await glovebox(["gc", "--dry-run"])
    expect([dry.code, dry.stderr]).toEqual([0, ""])
    expect(dry.stdout).toContain(`would ${line}`)
    expect(await exists(orphan)).toBe(true)

    const { code, stdout } = await glovebox(["gc"])
    expect(code).toBe(0)
    expect(stdout).toContain(line.replace("remove", "removed"))
    expect(`${dry.stdout}${stdout}`).not.toMatch(new RegExp(`(foreign|alive|kept|elsewhere)-${suffix}`))
    expect(await exists(orphan)).toBe(false)
    expect(await Promise.all(others.map(exists))).toEqual([true, true, true, true])
  })

  it("prints JSON", { retry: 3 }, async () => {
    const id = await plant(`gc-test-json-${randomUUID().slice(0, 8)}`, { ...mine(), ...DEAD })
    const { stdout } = await glovebox(["gc", "--json"])
    const { dryRun, leftovers } = JSON.parse(stdout) as { dryRun: boolean; leftovers: { id: string }[] }
    expect(dryRun).toBe(false)
    expect(leftovers.find((leftover) => leftover.id === id)).toMatchObject({
      kind: "container",
      removed: true,
    })
  })

  it("says that no engine answers, and exits with 1", async () => {
    const { code, stdout, stderr } = await glovebox(["gc", "--docker-host", "unix:///nonexistent.sock"])
    expect([code, stdout]).toEqual([1, ""])
    expect(stderr).toMatch(/^glovebox: No Docker engine answers .*\n$/)
  })
})
