import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { type PolicyInput, SandboxPolicy } from "../../policy/index.ts"
import type { ContainerSpec } from "./container-spec.ts"
import { Yard, eventually, withHost, withTmpfs } from "./hardening.test-kit.ts"
import { launchContainer } from "./launch-container.ts"

const MiB = 1024 ** 2
const HAS_NO_DOCKER = process.env["GLOVEBOX_TEST_DOCKER"] === "unavailable"

let yard: Yard
let folder = ""

describe.skipIf(HAS_NO_DOCKER)("each hardening setting of places and namespaces, with and without it", () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "glovebox-hardening-"))
    chmodSync(folder, 0o777)
    yard = await Yard.open()
    await yard.deriveImage()
  })

  afterAll(async () => {
    await yard?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  describe("places", () => {
    it("Tmpfs nosuid: a setuid program of root's in the workspace makes root of nobody", async () => {
      // Only where root, its capability to become another, and new privileges are allowed already: it is a second wall.
      const root = withHost(yard.spec({ user: "0:0", capabilities: ["SETUID"] }), {
        SecurityOpt: yard.spec().HostConfig.SecurityOpt.slice(1),
      })
      const code = `
def attack():
    shutil.copy(os.path.realpath(sys.executable), "/workspace/copy")
    os.chmod("/workspace/copy", 0o4755)
    os.chmod("/workspace", 0o755)
    os.setuid(1000)
    return {"0\\n": True, "1000\\n": False}[python("/workspace/copy", "import os; print(os.geteuid())")]
`
      const weak = withTmpfs(root, "/workspace", /^nosuid$/, "suid")
      const { hardened, weakened } = await yard.both(root, weak, code)
      expect([hardened.done, weakened.done]).toEqual([false, true])
    })

    it("Tmpfs nodev: a device in the workspace opens for nobody", async () => {
      const root = yard.spec({ user: "0:0", capabilities: ["MKNOD"] })
      const code = `
def attack():
    os.mknod("null", 0o020666, os.makedev(1, 3))
    os.close(os.open("null", os.O_WRONLY))
    return True
`
      const weak = withTmpfs(root, "/workspace", /^nodev$/, "dev")
      const { hardened, weakened } = await yard.both(root, weak, code)
      expect(hardened).toEqual({ done: false, error: "EACCES" })
      expect(weakened.done).toBe(true)
    })

    it("a volume of the image is covered: nothing is written to the engine's disk there", async () => {
      const spec = yard.spec({}, "derived")
      const { "/data": _cover, ...Tmpfs } = spec.HostConfig.Tmpfs
      const code = `
def attack():
    with open("/data/large", "wb") as file:
        for _ in range(100):
            file.write(bytes(1 << 20))
    return os.stat("/data/large").st_size
`
      const { hardened, weakened } = await yard.both(spec, withHost(spec, { Tmpfs }), code)
      // By its mode or by its size: some runtimes give the cover the mode of the folder beneath.
      expect(hardened).toEqual({ done: false, error: expect.stringMatching(/EACCES|ENOSPC/) })
      expect(weakened).toEqual({ done: true, value: 100 * MiB })
    })

    it("a mount is read-only unless the policy says rw", async () => {
      const code = `
def attack():
    open("/in/planted", "w").write("x")
    return True
`
      const read = yard.spec({ mounts: [{ source: folder, target: "/in" }] })
      const write = yard.spec({ mounts: [{ source: folder, target: "/in", mode: "rw" }] })
      expect(await yard.attack(read, code)).toEqual({ done: false, error: "EROFS" })
      expect(existsSync(join(folder, "planted"))).toBe(false)
      expect((await yard.attack(write, code)).done).toBe(true)
      expect(readFileSync(join(folder, "planted"), "utf8")).toBe("x")
    })

    it("LogConfig: output leaves nothing on the engine's disk", async () => {
      const spec = yard.spec()
      const code = `
def attack():
    sys.stdout.write("x" * (1 << 20) + "\\n")
    return True
`
      const sizeOfLog = async (asked: ContainerSpec): Promise<number> => {
        const target = await yard.launch(asked)
        try {
          expect((await target.attack(code)).done).toBe(true)
          const { LogPath } = await yard.engine.inspect(target.id)
          return LogPath === "" ? 0 : statSync(LogPath).size
        } finally {
          await target.remove()
        }
      }
      expect(await sizeOfLog(spec)).toBe(0)
      expect(
        await sizeOfLog(withHost(spec, { LogConfig: { Type: "json-file", Config: {} } })),
      ).toBeGreaterThan(MiB)
    })
  })

  describe("the engine's namespaces", () => {
    it("IpcMode: the host's shared memory is not there, and no other container may join", async () => {
      const spec = yard.spec()
      const secret = `/dev/shm/glovebox-test-${process.pid}`
      writeFileSync(secret, "secret", { mode: 0o644 })
      try {
        const code = `
def attack():
    return open("${secret}").read()
`
        const { hardened, weakened } = await yard.both(spec, withHost(spec, { IpcMode: "host" }), code)
        expect(hardened).toEqual({ done: false, error: "ENOENT" })
        expect(weakened).toEqual({ done: true, value: "secret" })
      } finally {
        rmSync(secret)
      }
      const [closed, open] = await Promise.all([
        yard.launch(spec),
        yard.launch(withHost(spec, { IpcMode: "shareable" })),
      ])
      try {
        const join = (id: string): Promise<unknown> =>
          yard.attack(
            withHost(spec, { IpcMode: `container:${id}`, ShmSize: 0 }),
            "\ndef attack():\n    return True\n",
          )
        await expectFailure(join(closed.id), "ENGINE_FAILED", /non-shareable IPC/)
        expect(await join(open.id)).toMatchObject({ done: true })
      } finally {
        await Promise.all([closed.remove(), open.remove()])
      }
    })

    it("CgroupnsMode: the container does not see where on the host it is", async () => {
      const spec = yard.spec()
      const code = `
def attack():
    return any(len(line.split(":", 2)[2].strip()) > 40 for line in open("/proc/self/cgroup"))
`
      const { hardened, weakened } = await yard.both(spec, withHost(spec, { CgroupnsMode: "host" }), code)
      expect([hardened.done, weakened.done]).toEqual([false, true])
    })
  })

  describe("what runs without being asked, or longer than it should", () => {
    it("Healthcheck: no program of the image runs beside the code", async () => {
      const spec = yard.spec({}, "derived")
      const { Healthcheck: _none, ...weak } = spec
      const code = `
def attack():
    return os.path.exists("/workspace/healthy")
`
      const hardened = await yard.launch(spec)
      const weakened = await yard.launch(weak)
      try {
        await eventually("the health check ran", async () => (await weakened.attack(code)).done)
        expect((await hardened.attack(code)).done).toBe(false)
        expect((await yard.engine.inspect(hardened.id)).State.Health).toBeUndefined()
      } finally {
        await Promise.all([hardened.remove(), weakened.remove()])
      }
    })

    it("StdinOnce and AutoRemove: a container is gone when its host is", async () => {
      const spec = yard.spec()
      const [hardened, staying, kept] = await Promise.all([
        yard.launch(spec),
        yard.launch({ ...spec, StdinOnce: false }),
        yard.launch(withHost(spec, { AutoRemove: false })),
      ])
      try {
        // As when the process dies: the connection ends, and nobody asks for a removal.
        for (const { agent } of [hardened, staying, kept]) agent.close()
        await eventually("it is gone", async () => (await yard.state(hardened.id)) === undefined)
        await eventually("it has ended", async () => (await yard.state(kept.id))?.State.Running === false)
        expect((await yard.state(staying.id))?.State.Running).toBe(true)
        expect((await yard.state(kept.id))?.State.Status).toBe("exited")
      } finally {
        await Promise.all([staying.remove(), kept.remove()])
      }
    })
  })

  describe("launchContainer", () => {
    const cases: [name: string, message: RegExp, weaken: (spec: ContainerSpec) => ContainerSpec][] = [
      ["user", /user is/, () => yard.spec({ user: "0:0" })],
      ["network", /network/, () => yard.spec({ network: { dangerously: "bridge" } })],
      ["memory", /memory/, () => yard.spec({ limits: { memory: "1GiB" } })],
      ["memory, removed", /memory/, (spec) => withHost(spec, { Memory: 0, MemorySwap: 0 })],
      ["swap", /swap/i, (spec) => withHost(spec, { MemorySwap: -1 })],
      ["processors", /cpus/, (spec) => withHost(spec, { NanoCpus: 0 })],
      ["pids", /process limit|pids/, () => yard.spec({ limits: { pids: 1000 } })],
      ["pids, removed", /process limit|pids/, (spec) => withHost(spec, { PidsLimit: 0 })],
      ["capabilities", /capabilit/, () => yard.spec({ capabilities: ["CHOWN"] })],
      ["capabilities, not dropped", /capabilit/, (spec) => withHost(spec, { CapDrop: [] })],
      ["readOnlyRoot", /read-only|readOnlyRoot/, () => yard.spec({ readOnlyRoot: false })],
      [
        "noNewPrivileges",
        /NoNewPrivs|noNewPrivileges/,
        (spec) => withHost(spec, { SecurityOpt: spec.HostConfig.SecurityOpt.slice(1) }),
      ],
      ["seccomp", /Seccomp/i, () => yard.spec({ seccomp: { dangerously: "unconfined" } })],
      ["seccomp, the engine's", /Seccomp/i, (spec) => withHost(spec, { SecurityOpt: ["no-new-privileges"] })],
      ["workspace", /workspace/, (spec) => withTmpfs(spec, "/workspace", /^size=/)],
      ["files", /files/, (spec) => withTmpfs(spec, "/workspace", /^nr_inodes=/)],
      ["a volume of the image", /mount of \/data/, () => uncovered(yard.spec({}, "derived"))],
    ]

    const launch = (policy: PolicyInput, spec: ContainerSpec): Promise<AsyncDisposable> =>
      launchContainer({
        engine: yard.engine,
        policy: new SandboxPolicy(policy).fields,
        spec,
        kind: "python",
        keep: false,
      })

    it("gives a container that is what the policy asks for", async () => {
      await using container = await launch({}, yard.spec())
      expect(container).toBeDefined()
    })

    it.each(cases)("refuses one that is wider than the policy: %s", async (_name, message, weaken) => {
      const launching = launch({}, weaken(yard.spec()))
      launching.then(
        async (container) => container[Symbol.asyncDispose](),
        () => {},
      )
      await expectFailure(launching, "SANDBOX_UNENFORCEABLE", message)
    })
  })
})

function uncovered(spec: ContainerSpec): ContainerSpec {
  const { "/data": _cover, ...Tmpfs } = spec.HostConfig.Tmpfs
  return withHost(spec, { Tmpfs })
}
