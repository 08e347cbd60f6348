import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { ContainerSpec } from "./container-spec.ts"
import { Yard, withHost, withTmpfs } from "./hardening.test-kit.ts"

const MiB = 1024 ** 2
const HAS_NO_DOCKER = process.env["GLOVEBOX_TEST_DOCKER"] === "unavailable"

let yard: Yard
let folder = ""

describe.skipIf(HAS_NO_DOCKER)("each hardening setting, with and without it", () => {
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

  describe("the network", () => {
    it("is out of reach by either of two settings, and in reach without both", async () => {
      const gateway = await yard.engine.ask("look at its bridge", async (docker) => {
        const network = await docker.getNetwork("bridge").inspect()
        return (network as { IPAM: { Config: { Gateway: string }[] } }).IPAM.Config[0]?.Gateway ?? ""
      })
      const server = createServer((socket) => socket.end("the host"))
      await new Promise<void>((resolve) => server.listen(0, gateway, resolve))
      try {
        const { port } = server.address() as AddressInfo
        const code = `
def attack():
    with socket.create_connection(("${gateway}", ${port}), timeout=5) as connection:
        return connection.recv(100).decode()
`
        const spec = yard.spec()
        const [both, mode, disabled, neither] = await Promise.all([
          yard.attack(spec, code),
          yard.attack({ ...spec, NetworkDisabled: false }, code),
          yard.attack(withHost(spec, { NetworkMode: "bridge" }), code),
          yard.attack(withHost({ ...spec, NetworkDisabled: false }, { NetworkMode: "bridge" }), code),
        ])
        expect([both, mode, disabled]).toEqual([
          { done: false, error: "ENETUNREACH" },
          { done: false, error: "ENETUNREACH" },
          { done: false, error: "ENETUNREACH" },
        ])
        expect(neither).toEqual({ done: true, value: "the host" })
      } finally {
        server.close()
      }
    })
  })

  describe("privileges", () => {
    const readSecret = `
def attack():
    return open("/etc/secret").read()
`

    it("ReadonlyRootfs: a place of the image that all may write to is not written to", async () => {
      const code = `
def attack():
    open("/var/tmp/planted", "w").write("x")
    return True
`
      const { hardened, weakened } = await yard.both(
        yard.spec(),
        withHost(yard.spec(), { ReadonlyRootfs: false }),
        code,
      )
      expect(hardened).toEqual({ done: false, error: "EROFS" })
      expect(weakened.done).toBe(true)
    })

    it("User: a file of root is not read", async () => {
      const { hardened, weakened } = await yard.both(
        yard.spec({}, "derived"),
        yard.spec({ user: "0:0" }, "derived"),
        readSecret,
      )
      expect(hardened).toEqual({ done: false, error: "EACCES" })
      expect(weakened).toEqual({ done: true, value: "secret\n" })
    })

    const capabilities: Record<string, string> = {
      "give a file to another": `
def attack():
    open("file", "w").close()
    os.chown("file", 1000, 1000)
    return True
`,
      "make a device": `
def attack():
    os.mknod("null", 0o020666, os.makedev(1, 3))
    return True
`,
      "open a raw socket": `
def attack():
    socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP).close()
    return True
`,
    }

    it("CapDrop: root in the container cannot give files away, make devices, or open raw sockets", async () => {
      const root = yard.spec({ user: "0:0" })
      for (const code of Object.values(capabilities)) {
        const { hardened, weakened } = await yard.both(root, withHost(root, { CapDrop: [] }), code)
        expect(hardened).toEqual({ done: false, error: "EPERM" })
        expect(weakened.done).toBe(true)
      }
    })

    it("CapAdd: root has none that was not given, and another user has none at all", async () => {
      const root = yard.spec({ user: "0:0" })
      const code = capabilities["give a file to another"]!
      const { hardened, weakened } = await yard.both(root, withHost(root, { CapAdd: ["CHOWN"] }), code)
      expect(hardened).toEqual({ done: false, error: "EPERM" })
      expect(weakened.done).toBe(true)
      const target = await yard.launch(withHost(yard.spec(), { CapAdd: ["CHOWN"] }))
      try {
        // In the bounding set alone a capability is worth nothing to a user who cannot gain it by a setuid program.
        expect(target.agent.facts).toMatchObject({
          status: { CapEff: "0000000000000000", CapBnd: "0000000000000001" },
        })
        expect(await target.attack(code)).toEqual({ done: false, error: "EPERM" })
      } finally {
        await target.remove()
      }
    })

    it("no-new-privileges: a setuid program of the image does not make root of its user", async () => {
      const spec = yard.spec({}, "derived")
      const [, ...seccomp] = spec.HostConfig.SecurityOpt
      const code = `
def attack():
    assert python("/usr/local/bin/rootpython", "print(1)") == "1\\n"
    return python("/usr/local/bin/rootpython", "print(open('/etc/secret').read())") or False
`
      const { hardened, weakened } = await yard.both(spec, withHost(spec, { SecurityOpt: seccomp }), code)
      expect(hardened.done).toBe(false)
      expect(weakened).toMatchObject({ done: true, value: expect.stringContaining("secret") })
    })

    it("seccomp: no namespace of one's own, and no look into other processes, which the engine's profile lets pass", async () => {
      const spec = yard.spec()
      const code = `
def possible():
    def setting(path):
        try:
            return int(open("/proc/sys/" + path).read())
        except OSError:
            return None
    return setting("user/max_user_namespaces") != 0 and setting("kernel/unprivileged_userns_clone") != 0 \\
        and setting("kernel/apparmor_restrict_unprivileged_userns") != 1

def attack():
    libc = ctypes.CDLL(None, use_errno=True)
    ptrace = libc.ptrace(0, 0, 0, 0) == 0
    unshare = libc.unshare(0x10000000) == 0
    return {"ptrace": ptrace, "unshare": unshare, "possible": possible()}
`
      const [strict, engines, unconfined] = await Promise.all([
        yard.attack(spec, code),
        yard.attack(withHost(spec, { SecurityOpt: ["no-new-privileges"] }), code),
        yard.attack(withHost(spec, { SecurityOpt: ["no-new-privileges", "seccomp=unconfined"] }), code),
      ])
      expect(strict.value).toMatchObject({ ptrace: false, unshare: false })
      expect(engines.value).toMatchObject({ ptrace: true, unshare: false })
      const { possible } = unconfined.value as { possible: boolean }
      expect(unconfined.value).toMatchObject({ ptrace: true, unshare: possible })
    })
  })

  describe("limits", () => {
    it("PidsLimit: a fork bomb ends at the limit", async () => {
      const spec = yard.spec({ limits: { pids: 64 } })
      const code = `
def attack():
    children = []
    try:
        while len(children) < 500:
            pid = os.fork()
            if pid == 0:
                time.sleep(60)
                os._exit(0)
            children.append(pid)
    except OSError:
        pass
    return len(children)
`
      const { hardened, weakened } = await yard.both(spec, withHost(spec, { PidsLimit: 0 }), code)
      expect(hardened.value).toBeGreaterThan(0)
      expect(hardened.value).toBeLessThan(64)
      expect(weakened.value).toBe(500)
    })

    it("Memory: what takes more is killed", async () => {
      const spec = yard.spec({ limits: { memory: 64 * MiB } })
      const code = `
def attack():
    return len(bytearray(os.urandom(1024) * (200 << 10)))
`
      // The engine takes no limit of swap without one of memory, so both go.
      const { hardened, weakened } = await yard.both(spec, withHost(spec, { Memory: 0, MemorySwap: 0 }), code)
      expect(hardened).toEqual({ done: false, error: "signal 9" })
      expect(weakened).toEqual({ done: true, value: 200 * MiB })
    })

    it("MemorySwap: none of the memory is swap, by the kernel's own number", async () => {
      const spec = yard.spec({ limits: { memory: 64 * MiB } })
      const swapOf = async (asked: ContainerSpec): Promise<{ version: number; swap: number | null }> => {
        const target = await yard.launch(asked)
        await target.remove()
        return (target.agent.facts as { cgroup: { version: number; swap: number | null } }).cgroup
      }
      const [hardened, weakened] = await Promise.all([
        swapOf(spec),
        swapOf(withHost(spec, { MemorySwap: 256 * MiB })),
      ])
      // The first version counts both together; a kernel that does not account for swap says nothing.
      const [none, some] = hardened.version === 2 ? [0, 192 * MiB] : [64 * MiB, 256 * MiB]
      const isCounted = hardened.swap !== null
      expect([hardened.swap, weakened.swap]).toEqual(isCounted ? [none, some] : [null, null])
      const inspected = await yard.launch(spec)
      try {
        expect((await yard.engine.inspect(inspected.id)).HostConfig.MemorySwap).toBe(64 * MiB)
      } finally {
        await inspected.remove()
      }
    })

    it("NanoCpus: two that work all the time have together what was given", async () => {
      const spec = yard.spec({ limits: { cpus: 0.1 } })
      const code = `
def throttled():
    for path in ("cpu.stat", "cpu/cpu.stat"):
        if os.path.exists("/sys/fs/cgroup/" + path):
            return dict(line.split() for line in open("/sys/fs/cgroup/" + path)).get("nr_throttled", "0") != "0"

def attack():
    begin = time.monotonic()
    for _ in range(2):
        if os.fork() == 0:
            while time.monotonic() - begin < 1.5:
                pass
            os._exit(0)
    for _ in range(2):
        os.wait()
    times = os.times()
    ratio = (times.children_user + times.children_system) / (time.monotonic() - begin)
    return {"ratio": ratio, "throttled": throttled()}
`
      const [hardened, weakened] = await Promise.all([
        yard.attack(spec, code),
        yard.attack(withHost(spec, { NanoCpus: 0 }), code),
      ])
      expect(hardened.value).toMatchObject({ throttled: true })
      expect(weakened.value).toMatchObject({ throttled: false })
      // Wide margins: the machine may have much else to do.
      expect((hardened.value as { ratio: number }).ratio).toBeLessThan(0.2)
      expect((weakened.value as { ratio: number }).ratio).toBeGreaterThan(0.25)
    })

    const fill = (place: string, bytes: number): string => `
def attack():
    with open("${place}/large", "wb") as file:
        for _ in range(${bytes / MiB}):
            file.write(bytes(1 << 20))
    return os.stat("${place}/large").st_size
`

    it("ShmSize: shared memory is no larger than the workspace; the engine's default would be 64 MB", async () => {
      const spec = yard.spec({ limits: { workspace: 4 * MiB } })
      const { hardened, weakened } = await yard.both(
        spec,
        withHost(spec, { ShmSize: 0 }),
        fill("/dev/shm", 16 * MiB),
      )
      expect(hardened).toEqual({ done: false, error: "ENOSPC" })
      expect(weakened).toEqual({ done: true, value: 16 * MiB })
    })

    it("Tmpfs size: the workspace and /tmp hold what they may", async () => {
      const spec = yard.spec({ limits: { workspace: 4 * MiB } })
      for (const place of ["/workspace", "/tmp"]) {
        const { hardened, weakened } = await yard.both(
          spec,
          withTmpfs(spec, place, /^size=/),
          fill(place, 16 * MiB),
        )
        expect(hardened).toEqual({ done: false, error: "ENOSPC" })
        expect(weakened).toEqual({ done: true, value: 16 * MiB })
      }
    })

    it("Tmpfs nr_inodes: the workspace and /tmp hold as many files as they may", async () => {
      const spec = yard.spec({ limits: { files: 50 } })
      for (const place of ["/workspace", "/tmp"]) {
        const code = `
def attack():
    for number in range(200):
        open("${place}/file%d" % number, "w").close()
    return True
`
        const { hardened, weakened } = await yard.both(spec, withTmpfs(spec, place, /^nr_inodes=/), code)
        expect(hardened).toEqual({ done: false, error: "ENOSPC" })
        expect(weakened.done).toBe(true)
      }
    })

    it("Ulimits: no core files, and a bounded number of open ones", async () => {
      const spec = yard.spec()
      const code = `
def attack():
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(files, 20000), files))
    opened = []
    try:
        while len(opened) < 5000:
            opened.append(os.open("/dev/null", os.O_RDONLY))
    except OSError:
        pass
    return {"core": hard, "opened": len(opened)}
`
      const { hardened, weakened } = await yard.both(spec, withHost(spec, { Ulimits: [] }), code)
      expect(hardened.value).toMatchObject({ core: 0 })
      expect((hardened.value as { opened: number }).opened).toBeLessThan(4096)
      expect(weakened.value).toMatchObject({ core: -1, opened: 5000 })
    })

    it("OomScoreAdj: the sandbox goes before the host's own processes", async () => {
      const code = `
def attack():
    return int(open("/proc/1/oom_score_adj").read())
`
      const spec = yard.spec()
      const { hardened, weakened } = await yard.both(spec, withHost(spec, { OomScoreAdj: 0 }), code)
      expect([hardened.value, weakened.value]).toEqual([500, 0])
    })
  })
})
