import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { expectFailure } from "../core/expect-failure.test-kit.ts"
import { SandboxPolicy, checkMounts } from "./index.ts"

let folder = ""
let home = ""

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "glovebox-mounts-"))
  home = join(folder, "home", "ada")
  await mkdir(join(home, ".ssh"), { recursive: true })
  await mkdir(join(home, "data"))
  await mkdir(join(folder, "snapshot"))
  await symlink("/etc", join(folder, "looks-harmless"))
  await symlink(home, join(folder, "also-harmless"))
  await symlink("/", join(home, "data", "root"))
})

afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
})

const check = (source: string): Promise<void> =>
  checkMounts(new SandboxPolicy({ mounts: [{ source, target: "/data" }] }), { home })

describe("checkMounts", () => {
  it("lets through folders made for it, also in a home", async () => {
    await expect(check(join(folder, "snapshot"))).resolves.toBeUndefined()
    await expect(check(join(home, "data"))).resolves.toBeUndefined()
    await expect(checkMounts(new SandboxPolicy())).resolves.toBeUndefined()
  })

  it.each(["/", "/etc", "/etc/ssl", "/proc", "/sys", "/var", "/var/lib", "/dev", "/usr"])(
    "refuses %s",
    async (source) => {
      await expectFailure(check(source), "POLICY_MOUNT_REFUSED", /is refused/)
    },
  )

  it("refuses a home, what holds it, and its hidden folders", async () => {
    await expectFailure(check(home), "POLICY_MOUNT_REFUSED", /home folder/)
    await expectFailure(check(`${home}/`), "POLICY_MOUNT_REFUSED", /home folder/)
    await expectFailure(check(join(folder, "home")), "POLICY_MOUNT_REFUSED", /holds a home/)
    await expectFailure(check(join(home, ".ssh")), "POLICY_MOUNT_REFUSED", /hidden folder/)
  })

  it("refuses what a link leads to, and says so", async () => {
    await expectFailure(
      check(join(folder, "looks-harmless")),
      "POLICY_MOUNT_REFUSED",
      /\/etc.*looks-harmless leads there/,
    )
    await expectFailure(check(join(folder, "also-harmless")), "POLICY_MOUNT_REFUSED", /leads there/)
    await expectFailure(check(join(home, "data", "root", "etc")), "POLICY_MOUNT_REFUSED", /\/etc/)
    await expectFailure(check(`${folder}/snapshot/../../../etc`), "POLICY_MOUNT_REFUSED", /\/etc/)
  })

  it("does not take an empty HOME for permission", async () => {
    for (const source of ["/etc", "/etc/passwd", "/var/lib", "//etc"]) {
      const policy = new SandboxPolicy({ mounts: [{ source, target: "/data" }] })
      await expectFailure(checkMounts(policy, { home: "" }), "POLICY_MOUNT_REFUSED")
      await expectFailure(checkMounts(policy, { home: "/" }), "POLICY_MOUNT_REFUSED")
      await expectFailure(checkMounts(policy, { home: "/var" }), "POLICY_MOUNT_REFUSED")
    }
  })

  it("refuses the homes of other users too", async () => {
    await mkdir(join(folder, "home", "bob", ".ssh"), { recursive: true })
    await mkdir(join(folder, "home", "bob", "shared"))
    await expectFailure(check(join(folder, "home", "bob")), "POLICY_MOUNT_REFUSED", /home folder/)
    await expectFailure(check(join(folder, "home", "bob", ".ssh")), "POLICY_MOUNT_REFUSED", /hidden folder/)
    await expect(check(join(folder, "home", "bob", "shared"))).resolves.toBeUndefined()
  })

  it("refuses what does not exist", async () => {
    await expectFailure(check(join(folder, "nowhere")), "POLICY_MOUNT_REFUSED", /does not exist/)
  })

  it("refuses the socket of an engine wherever it stands", async () => {
    const socket = join(folder, "docker.sock")
    await mkdir(socket)
    await expectFailure(check(socket), "POLICY_MOUNT_REFUSED", /socket of an engine/)
  })
})
