import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises"
import { type AddressInfo, createServer } from "node:net"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import type { LaunchPreparation } from "./prepare-launch.ts"
import { type Weakening, printedIn, weakSandbox } from "./weak-sandbox.test-kit.ts"

// Each attack is met by the whole wall, and succeeds as soon as its control is missing: so it is that control that holds.
interface Hole {
  readonly name: string
  /** Prints OPEN when it succeeds, SHUT when it does not. */
  readonly attack: string
  readonly weakening: Weakening
  /** The wall that meets it, where another control of it would hold as well. @default the whole */
  readonly wall?: Weakening
  /** What the check before a sandbox's first run says of the same hole; undefined where only the attack shows it. */
  readonly noticed?: RegExp
}

const attempt = (body: string): string => `import ctypes, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
def attack():
${body
  .split("\n")
  .map((line) => `    ${line}`)
  .join("\n")}
try: print("OPEN" if attack() else "SHUT")
except OSError as error: print("SHUT")`

// Numbers of calls differ from one processor to another.
const call = (x64: number, arm64: number): string => String(process.arch === "x64" ? x64 : arm64)

const secret = randomUUID()
let folder = ""
let port = 0
const server = createServer((socket) => socket.end(secret))

beforeAll(async () => {
  folder = await mkdtemp("/var/tmp/glovebox-host-")
  await chmod(folder, 0o755)
  await writeFile(join(folder, "secret"), secret, { mode: 0o644 })
  await writeFile(join(folder, "of-its-owner"), secret, { mode: 0o600 })
  process.env["GLOVEBOX_TEST_SECRET"] = secret
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  port = (server.address() as AddressInfo).port
})

afterAll(async () => {
  delete process.env["GLOVEBOX_TEST_SECRET"]
  server.close()
  await rm(folder, { recursive: true, force: true })
})

const withHostFolder = (preparation: LaunchPreparation): LaunchPreparation => ({
  ...preparation,
  tree: [...preparation.tree, { kind: "bind", source: folder, target: folder }],
})

const unfiltered: Weakening = { change: (preparation) => ({ ...preparation, filters: [] }) }

const holes = (): Hole[] => [
  {
    name: "the network of the host",
    attack: attempt(
      `return socket.create_connection(("127.0.0.1", ${port}), timeout=2).recv(64) == b"${secret}"`,
    ),
    weakening: { without: ["network namespace"] },
    noticed: /namespaces shared with this machine is \["net"\]/,
  },
  {
    name: "processes of the host",
    attack: attempt(`return open("/proc/${process.pid}/cmdline").read() != ""`),
    weakening: {
      // The agent refuses to be anything but the first of its own namespace.
      instead: { processes: ["--ro-bind", "/proc", "/proc"] },
    },
  },
  {
    name: "files of the host",
    attack: attempt(`return open("${folder}/secret").read() == "${secret}"`),
    weakening: { change: withHostFolder },
  },
  // Only root has files that others may not read, and only root has to become another.
  ...(process.getuid?.() === 0
    ? [
        {
          name: "files that only root may read",
          attack: attempt(`return open("${folder}/of-its-owner").read() == "${secret}"`),
          wall: { change: withHostFolder },
          weakening: {
            change: (preparation: LaunchPreparation) => ({
              ...withHostFolder(preparation),
              machine: { ...preparation.machine, identity: { uid: 0, gid: 0 } },
            }),
          },
        },
      ]
    : []),
  {
    name: "variables of the host",
    attack: attempt(`return os.environ.get("GLOVEBOX_TEST_SECRET") == "${secret}"`),
    weakening: {
      instead: { variables: ["--setenv", "PATH", "/usr/bin", "--setenv", "GLOVEBOX_TEST_SECRET", secret] },
    },
  },
  {
    name: "a writable root",
    attack: attempt(`open("/planted", "w").close()\nreturn True`),
    weakening: { without: ["read-only root"] },
    noticed: /the root's read-only flag is false/,
  },
  {
    name: "a writable /usr",
    attack: attempt(`return not os.statvfs("/usr").f_flag & os.ST_RDONLY`),
    weakening: {
      instead: {
        tree: [
          "--bind",
          "/usr",
          "/usr",
          "--symlink",
          "usr/bin",
          "/bin",
          "--symlink",
          "usr/lib",
          "/lib",
          "--symlink",
          "usr/lib64",
          "/lib64",
        ],
      },
    },
  },
  {
    name: "unbounded devices",
    attack: attempt(`open("/dev/planted", "w").close()\nreturn True`),
    weakening: { without: ["read-only devices"] },
  },
  {
    name: "System V memory of the host",
    attack: attempt(`return os.stat("/proc/self/ns/ipc").st_ino == IPC`),
    weakening: { without: ["ipc namespace"] },
    noticed: /namespaces shared with this machine is \["ipc"\]/,
  },
  {
    name: "the name of the host",
    attack: attempt(`return os.stat("/proc/self/ns/uts").st_ino == UTS`),
    weakening: { without: ["host name"] },
    noticed: /namespaces shared with this machine is \["uts"\]/,
  },
  {
    name: "the cgroups of the host",
    attack: attempt(`return os.stat("/proc/self/ns/cgroup").st_ino == CGROUP`),
    weakening: { without: ["cgroup namespace"] },
    noticed: /namespaces shared with this machine is \["cgroup"\]/,
  },
  {
    name: "further user namespaces",
    attack: attempt(`return libc.unshare(0x10000000) == 0`),
    wall: unfiltered,
    weakening: { ...unfiltered, without: ["no further user namespaces"] },
  },
  {
    name: "capabilities",
    attack: attempt(
      `return "0000000000000000" not in [line.split()[1] for line in open("/proc/self/status") if line.startswith("CapBnd")]`,
    ),
    weakening: { instead: { capabilities: ["--cap-add", "CAP_NET_RAW"] } },
    noticed: /Cap\w+ is false instead of true/,
  },
  {
    name: "tracing",
    attack: attempt(`child = os.fork()
if child == 0:
    import time; time.sleep(5); os._exit(0)
return libc.ptrace(0x4206, child, 0, 0) == 0`),
    weakening: unfiltered,
  },
  {
    name: "keys",
    attack: attempt(`return libc.syscall(${call(250, 219)}, 0, -4, 1) >= 0`),
    weakening: unfiltered,
  },
  {
    name: "io_uring",
    attack: attempt(`return libc.syscall(${call(425, 425)}, 1, (ctypes.c_char * 256)()) >= 0`),
    weakening: unfiltered,
  },
]

const NAMESPACES = { IPC: "ipc", UTS: "uts", CGROUP: "cgroup" } as const

async function attackOf({ attack }: Hole): Promise<string> {
  let code = attack
  for (const [mark, name] of Object.entries(NAMESPACES)) {
    code = code.replace(`== ${mark}`, `== ${(await stat(`/proc/self/ns/${name}`)).ino}`)
  }
  return code
}

const NAMES = holes().map(({ name }) => name)
const hole = (name: string): Hole => holes().find((one) => one.name === name)!

describe("the wall of a bubblewrap sandbox", () => {
  it.each(NAMES)("keeps out: %s", async (name) => {
    const code = await attackOf(hole(name))
    const { wall = { verifies: true }, weakening } = hole(name)
    expect(await printedIn(wall, code)).toBe("SHUT")
    expect(await printedIn(weakening, code)).toBe("OPEN")
  })

  it.each(NAMES.filter((name) => hole(name).noticed))("is not used when it lacks: %s", async (name) => {
    const { weakening, noticed } = hole(name)
    await expectFailure(weakSandbox({ ...weakening, verifies: true }), "SANDBOX_UNENFORCEABLE", noticed)
  })

  it("needs a process namespace: the agent is nothing else than its first process", async () => {
    const weakening = { without: ["process namespace"], verifies: true }
    await expectFailure(weakSandbox(weakening), "SANDBOX_SETUP_FAILED", /not process 1/)
  })

  it("stands without mounts of its own too, and then bounds files by memory alone", async () => {
    const change = (preparation: LaunchPreparation): LaunchPreparation => ({
      ...preparation,
      plan: { ...preparation.plan, files: "memory" },
    })
    const code = `import os
print([os.statvfs(place).f_blocks * 4096 >> 20 for place in ("/workspace", "/tmp", "/dev/shm")], os.access("/workspace", os.W_OK))`
    expect(await printedIn({ change, verifies: true }, code)).toBe("[256, 64, 64] True")
  })

  it("ends with the process that holds it, even when nothing in it can see that", async () => {
    expect(await afterParent({})).toBe("gone")
    expect(await afterParent({ without: ["end with parent"] })).toBe("left")
  })
})

// Stopped, the agent cannot notice the end of its input.
async function afterParent(weakening: Weakening): Promise<"gone" | "left"> {
  await using sandbox = await weakSandbox(weakening)
  const { parent } = await processOf(sandbox.init)
  process.kill(sandbox.init, "SIGSTOP")
  process.kill(parent, "SIGKILL")
  for (let stopped = 0; stopped < 5;) {
    const { state, parent: now } = await processOf(sandbox.init)
    if (state === "gone") return "gone"
    // Seen again and again after its parent had ended: nobody has sent it a signal.
    stopped = state === "T" && now !== parent ? stopped + 1 : 0
    await delay(20)
  }
  return "left"
}

async function processOf(pid: number): Promise<{ state: string; parent: number }> {
  const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "")
  const [state = "gone", parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  return { state: stat === "" || state === "Z" ? "gone" : state, parent: Number(parent) }
}
