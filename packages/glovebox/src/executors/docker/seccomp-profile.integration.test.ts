import { execFile } from "node:child_process"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { arch, tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { seccompProfile } from "../sandbox/seccomp-profile.ts"

const run = promisify(execFile)

const attacks = `
import ctypes, json, os, struct, time
libc = ctypes.CDLL(None, use_errno=True)
names = ["unshare", "clone", "add_key", "keyctl", "io_uring_setup", "userfaultfd", "perf_event_open", "bpf",
         "socket", "ptrace", "personality", "process_vm_readv", "ioctl", "pidfd_getfd", "kcmp", "clone3"]
numbers = {"x86_64": [272, 56, 248, 250, 425, 323, 298, 321, 41, 101, 135, 310, 16, 438, 312, 435],
           "aarch64": [97, 220, 217, 219, 425, 282, 241, 280, 198, 117, 92, 270, 29, 438, 272, 435]}
table = dict(zip(names, numbers[os.uname().machine]))
NEWUSER = 0x10000000

def call(name, *arguments):
    ctypes.set_errno(0)
    words = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = libc.syscall(ctypes.c_long(table[name]), *words)
    return ctypes.get_errno() if result < 0 else 0

def clone():
    ctypes.set_errno(0)
    pid = libc.syscall(ctypes.c_long(table["clone"]), *map(ctypes.c_long, (NEWUSER | 17, 0, 0, 0, 0)))
    if pid == 0:
        os._exit(0)
    return ctypes.get_errno() if pid < 0 else os.waitpid(pid, 0)[1]

class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]

def read_child():
    secret, copy = ctypes.create_string_buffer(b"secret"), ctypes.create_string_buffer(6)
    pid = os.fork()
    if pid == 0:
        time.sleep(60)
    local, remote = Vector(ctypes.addressof(copy), 6), Vector(ctypes.addressof(secret), 6)
    result = call("process_vm_readv", pid, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    return result

def terminal(request):
    os.setsid()
    _, slave = os.openpty()
    libc.ioctl(slave, ctypes.c_ulong(0x540E), 0)
    return call("ioctl", slave, request, ctypes.create_string_buffer(16))

counter = ctypes.create_string_buffer(128)
struct.pack_into("IIQ", counter, 0, 1, 128, 0)
struct.pack_into("Q", counter, 40, 1 | 1 << 5 | 1 << 6)
array_map = ctypes.create_string_buffer(struct.pack("IIII", 2, 4, 4, 1) + bytes(112))
me = os.getpid()
probes = {
    "unshare a user namespace": lambda: call("unshare", NEWUSER),
    "clone into a user namespace": clone,
    "add_key": lambda: call("add_key", b"user", b"name", b"value", 5, -3),
    "keyctl": lambda: call("keyctl", 0, -3, 1),
    "io_uring_setup": lambda: call("io_uring_setup", 4, ctypes.create_string_buffer(256)),
    "userfaultfd": lambda: call("userfaultfd", 1),
    "perf_event_open": lambda: call("perf_event_open", counter, 0, -1, -1, 0),
    "bpf": lambda: call("bpf", 0, array_map, 128),
    "a vsock socket": lambda: call("socket", 40, 1, 0),
    "a vsock socket, upper half set": lambda: call("socket", 1 << 32 | 40, 1, 0),
    "an audit socket": lambda: call("socket", 16, 3, 9),
    "ptrace": lambda: call("ptrace", 0, 0, 0, 0),
    "no address randomisation": lambda: call("personality", 0x40000),
    "the memory of a child": read_child,
    "the descriptors of another": lambda: call("pidfd_getfd", os.pidfd_open(me), 0, 0),
    "kcmp": lambda: call("kcmp", me, me, 0, 0, 0),
    "TIOCSTI": lambda: terminal(0x5412),
    "TIOCSTI, upper half set": lambda: terminal(1 << 32 | 0x5412),
    "clone3": lambda: call("clone3", 0, 0),
    "a window size": lambda: terminal(0x5413),
    "a route socket": lambda: call("socket", 16, 3, 0),
}

def isolated(probe):
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(writer, str(probe()).encode())
        os._exit(0)
    os.close(writer)
    answer = os.read(reader, 16)
    os.waitpid(pid, 0)
    return int(answer or -1)

def setting(path):
    try:
        with open("/proc/sys/" + path) as file:
            return int(file.read())
    except (OSError, ValueError):
        return None

print(json.dumps({
    "errors": {name: isolated(probe) for name, probe in probes.items()},
    "settings": {path: setting(path) for path in ("user/max_user_namespaces", "kernel/unprivileged_userns_clone",
        "kernel/apparmor_restrict_unprivileged_userns", "kernel/io_uring_disabled", "kernel/perf_event_paranoid",
        "dev/tty/legacy_tiocsti")},
}))
`

const programs = `
import asyncio, ctypes, mmap, multiprocessing, os, pty, signal, socket, sqlite3, subprocess, sys, tempfile, threading, time

async def loopback():
    async def echo(reader, writer):
        writer.write(await reader.read(3))
        writer.close()
    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection("127.0.0.1", server.sockets[0].getsockname()[1])
    writer.write(b"abc")
    assert await reader.read() == b"abc"
    child = await asyncio.create_subprocess_exec("echo", "x", stdout=subprocess.PIPE)
    assert (await child.communicate())[0] == b"x\\n"

for method in ("fork", "spawn", "forkserver"):
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(abs, [-1, 2]) == [1, 2]
threads = [threading.Thread(target=time.sleep, args=(0.01,)) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
asyncio.run(loopback())
assert subprocess.run("printf abc | tr a-c A-C | cat", shell=True, capture_output=True).stdout == b"ABC"
mmap.mmap(-1, 4096)[:3] = b"abc"
left, right = socket.socketpair()
folder = tempfile.mkdtemp(dir="/tmp")
listener, client = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
listener.bind(folder + "/socket")
listener.listen()
client.connect(folder + "/socket")
socket.socket(socket.AF_INET6)
assert socket.if_nameindex() == [(1, "lo")]
ctypes.CDLL(None).getpid()
database = sqlite3.connect(folder + "/data")
database.execute("pragma journal_mode = wal")
database.execute("create table t(a)")
alarms = []
signal.signal(signal.SIGALRM, lambda *_: alarms.append(1))
signal.setitimer(signal.ITIMER_REAL, 0.01)
time.sleep(0.05)
assert alarms
os.mkfifo(folder + "/fifo")
pid, terminal = pty.fork()
if pid == 0: os.execvp("stty", ["stty", "-a"])
os.waitpid(pid, 0)
os.pidfd_open(os.getpid())
os.memfd_create("x")
print("fine")
`

const shell = `set -o pipefail
seq 1000 | sort -rn | head -n 1
cat <(echo a) <(echo b) | tee /tmp/copy | wc -l
trap "echo trapped" USR1; kill -USR1 $$
mkfifo /tmp/pipe; (echo through >/tmp/pipe) & cat /tmp/pipe
tar -cf - -C /etc passwd | tar -tf -`

interface Report {
  readonly errors: Readonly<Record<string, number>>
  readonly settings: Readonly<Record<string, number | null>>
}

let folder = ""
let ours = ""

const start = async (seccomp: string, ...command: readonly string[]): Promise<string> => {
  const hardening = [
    "--network=none",
    "--read-only",
    "--user=65532:65532",
    "--cap-drop=ALL",
    "--pids-limit=64",
  ]
  const security = ["--security-opt=no-new-privileges", `--security-opt=seccomp=${seccomp}`]
  const options = [...hardening, ...security, "--tmpfs=/tmp:rw,mode=1777", "--label=org.glovebox.test=1"]
  const { stdout } = await run("docker", ["run", "--rm", ...options, "glovebox/sandbox:py3", ...command])
  return stdout
}

const attack = async (seccomp: string): Promise<Report> =>
  JSON.parse(await start(seccomp, "python3", "-c", attacks)) as Report

const always = [
  "add_key",
  "keyctl",
  "userfaultfd",
  "ptrace",
  "no address randomisation",
  "the memory of a child",
  "the descriptors of another",
]

/** Those of the attacks that this kernel's own settings do not refuse already. */
const possible = ({ settings }: Report): string[] => {
  const namespaces =
    settings["user/max_user_namespaces"] !== 0 &&
    settings["kernel/unprivileged_userns_clone"] !== 0 &&
    settings["kernel/apparmor_restrict_unprivileged_userns"] !== 1
  return [
    ...always,
    ...(namespaces ? ["unshare a user namespace", "clone into a user namespace"] : []),
    ...(settings["kernel/io_uring_disabled"] === 0 ? ["io_uring_setup"] : []),
    ...((settings["kernel/perf_event_paranoid"] ?? 9) <= 2 ? ["perf_event_open"] : []),
    ...(settings["dev/tty/legacy_tiocsti"] === 1 ? ["TIOCSTI", "TIOCSTI, upper half set"] : []),
  ]
}

const needed = ["a window size", "a route socket"]

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "glovebox-seccomp-"))
  ours = join(folder, "profile.json")
  await writeFile(ours, JSON.stringify(seccompProfile(arch() === "x64" ? "amd64" : arch())))
})

afterAll(async () => rm(folder, { recursive: true, force: true }))

describe("the seccomp profile, in a container", () => {
  it("refuses each attack, of which the kernel alone would let most pass", async () => {
    const [confined, free] = await Promise.all([attack(ours), attack("unconfined")])
    const passed = Object.keys(free.errors).filter((name) => free.errors[name] === 0)
    expect(passed).toEqual(expect.arrayContaining([...possible(free), ...needed]))
    const { clone3, ...errors } = confined.errors
    expect(clone3).toBe(38)
    const refused = Object.keys(errors).filter((name) => !needed.includes(name))
    expect(errors).toEqual(
      Object.fromEntries([...refused.map((name) => [name, 1]), ...needed.map((name) => [name, 0])]),
    )
  })

  it("lets Python's processes, threads, sockets, terminals and databases work", async () => {
    expect(
      await start(ours, "python3", "-c", `if __name__ == "__main__":${programs.replaceAll("\n", "\n ")}`),
    ).toBe("fine\n")
  })

  it("lets the shell's pipelines, traps and named pipes work", async () => {
    expect(await start(ours, "bash", "-c", shell)).toBe("1000\n2\ntrapped\nthrough\npasswd\n")
  })
})
