import { existsSync } from "node:fs"
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { SandboxPolicy } from "../../policy/index.ts"
import { cgroupName, isOrphan } from "./cgroup-owner.ts"
import { type Controller, findCgroupPlace, namedCgroupPlace, ownFolders } from "./cgroup-places.ts"
import { SandboxCgroup } from "./sandbox-cgroup.ts"

let root = ""

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "glovebox-cgroup-"))
})

afterEach(async () => {
  await rm(root, { recursive: true, force: true })
})

// A folder as the kernel shows a cgroup.
async function cgroup(path: string, enabled: string): Promise<void> {
  await mkdir(path, { recursive: true })
  await writeFile(join(path, "cgroup.subtree_control"), `${enabled}\n`)
  await writeFile(join(path, "cgroup.procs"), "")
}

const unified = (path: string): { own: string; mounts: string } => ({
  own: `0::${path}\n`,
  mounts: `29 23 0:26 / ${root} rw,nosuid shared:4 - cgroup2 cgroup2 rw\n`,
})

describe("ownFolders", () => {
  it("finds each controller of version 1, also two on one mount", () => {
    const { legacy, unified: second } = ownFolders({
      own: "4:memory:/a/b\n2:cpu,cpuacct:/\n1:name=systemd:/x\n0::/\n",
      mounts: `1 2 0:3 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
2 2 0:3 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct
3 2 0:3 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
4 2 0:3 / / rw - ext4 /dev/vda rw\n`,
    })
    expect([...legacy]).toEqual([
      ["memory", "/sys/fs/cgroup/memory/a/b"],
      ["cpu", "/sys/fs/cgroup/cpu,cpuacct"],
    ])
    expect(second).toBe("/sys/fs/cgroup/unified")
  })

  it("finds nothing where a container shows another part of the hierarchy", () => {
    const mounts = "1 2 0:3 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
    expect(ownFolders({ own: "4:memory:/docker/abc/d\n", mounts }).legacy.get("memory")).toBe(
      "/sys/fs/cgroup/memory/d",
    )
    expect(ownFolders({ own: "4:memory:/elsewhere\n", mounts }).legacy.size).toBe(0)
  })

  it("finds nothing where nothing can be read", () => {
    expect(ownFolders({ own: "", mounts: "" })).toMatchObject({ unified: undefined })
  })
})

describe("findCgroupPlace", () => {
  it("takes the nearest cgroup of version 2 below which limits can be set", async () => {
    await cgroup(root, "cpu memory pids")
    await cgroup(join(root, "user"), "memory pids")
    await cgroup(join(root, "user/app"), "")
    const place = await findCgroupPlace(unified("/user/app"))
    expect(place.version).toBe(2)
    expect([...place.folders]).toEqual([
      ["memory", join(root, "user")],
      ["pids", join(root, "user")],
    ])
  })

  it("goes no higher than the mount, and takes none without memory and processes", async () => {
    await cgroup(root, "cpu")
    await cgroup(join(root, "app"), "")
    expect((await findCgroupPlace(unified("/app"))).folders.size).toBe(0)
  })
})

describe("namedCgroupPlace", () => {
  const CGROUP2 = 0x6367_7270
  const typeOf = async (): Promise<number> => CGROUP2

  it("enables what is delegated, and refuses a cgroup in which that does not help", async () => {
    await cgroup(root, "")
    await expectFailure(namedCgroupPlace(root, typeOf), "OPTION_INVALID", /controllers .*memory, pids/)
    // The kernel would read each word as "enable", and list all of them.
    expect(await readFile(join(root, "cgroup.subtree_control"), "utf8")).toBe("+cpu")
  })

  it.each(["/var/tmp", "/proc", "/sys/fs/cgroup/nope"])(
    "refuses %s, and writes nothing into it",
    async (folder) => {
      await expectFailure(namedCgroupPlace(folder), "OPTION_INVALID", new RegExp(`cgroup: ${folder} `))
      expect(existsSync(join(folder, "cgroup.subtree_control"))).toBe(false)
    },
  )
})

describe("a sandbox's cgroup of version 2", () => {
  it("has every limit of the policy, and none of swap", async () => {
    const folders = new Map((["memory", "pids", "cpu"] as const).map((name) => [name, root]))
    const { limits } = new SandboxPolicy({ limits: { memory: "64MiB", pids: 10, cpus: 0.5 } }).fields
    const own = await SandboxCgroup.create({ version: 2, folders }, "one", limits)
    const read = async (file: string): Promise<string> => readFile(join(root, "one", file), "utf8")
    const files = ["cpu.max", "memory.max", "memory.swap.max", "pids.max"]
    expect((await readdir(join(root, "one"))).toSorted()).toEqual(files)
    // One process more than the policy's: bwrap's own, outside.
    expect(await Promise.all(files.map(read))).toEqual(["50000 100000", "67108864", "0", "11"])
    expect(own.binds).toEqual([{ source: join(root, "one"), target: "/sys/fs/cgroup" }])
    await own.add(42)
    expect(await read("cgroup.procs")).toBe("42")
    expect(await own.ranOutOfMemory()).toBe(false)
    await writeFile(join(root, "one", "memory.events"), "low 0\noom 3\noom_kill 2\n")
    expect(await own.ranOutOfMemory()).toBe(true)
  })

  it("leaves nothing when it cannot be made, and touches nothing that was there", async () => {
    const { limits } = new SandboxPolicy().fields
    const make = async (folders: readonly [Controller, string][]): Promise<SandboxCgroup> =>
      SandboxCgroup.create({ version: 1, folders: new Map(folders) }, "one", limits)
    await mkdir(join(root, "a"))
    const missing = make([
      ["memory", join(root, "a")],
      ["pids", join(root, "missing")],
    ])
    await expect(missing).rejects.toThrow(/ENOENT/)
    expect(await readdir(join(root, "a"))).toEqual([])
    await mkdir(join(root, "a/one"))
    await expect(make([["memory", join(root, "a")]])).rejects.toThrow(/EEXIST/)
    expect(await readdir(join(root, "a"))).toEqual(["one"])
  })

  it("has whole pages of memory, whatever the policy says", async () => {
    const folders = new Map([["memory", root]] as const)
    const { limits } = new SandboxPolicy({ limits: { memory: 100_000_001 } }).fields
    await SandboxCgroup.create({ version: 2, folders }, "one", limits)
    expect(Number(await readFile(join(root, "one/memory.max"), "utf8"))).toBe(99_942_400)
  })

  it("removes every folder that it can, when one cannot be", async () => {
    const { limits } = new SandboxPolicy().fields
    for (const name of ["a", "b"]) await mkdir(join(root, name))
    const folders = new Map([["memory", join(root, "a")] as const, ["pids", join(root, "b")] as const])
    const own = await SandboxCgroup.create({ version: 1, folders }, "one", limits)
    // A file keeps a folder here, which the kernel's own files do not.
    await rm(join(root, "b/one/pids.max"))
    await expect(own.remove()).rejects.toThrow(/ENOTEMPTY/)
    expect([await readdir(join(root, "a")), await readdir(join(root, "b"))]).toEqual([["one"], []])
  })
})

describe("the name of a cgroup", () => {
  it("tells whether its process is gone", () => {
    const [prefix, space, , start] = cgroupName().split("-")
    expect(isOrphan(cgroupName())).toBe(false)
    expect(isOrphan([prefix, space, process.pid, "1", "abc"].join("-"))).toBe(true)
    expect(isOrphan([prefix, space, 2 ** 22 + 1, start, "abc"].join("-"))).toBe(true)
  })

  it("is foreign when it is of another namespace, or not one of ours", () => {
    for (const name of ["glovebox-1-1-1-abc", "system.slice", "glovebox", "glovebox-x-y", ""]) {
      expect([name, isOrphan(name)]).toEqual([name, false])
    }
  })
})
