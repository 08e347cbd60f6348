import assert from "node:assert/strict"
import { once } from "node:events"
import { type AddressInfo, createServer } from "node:net"
import { networkInterfaces } from "node:os"
import { succeed, within } from "../expectations.ts"
import { literal, python } from "../programs.ts"
import type { Suite } from "../suite.ts"

/** The way out: to the network, the host and more rights. */
export function defineWalls({ itIf, shared, subject }: Suite): void {
  const { noNetwork, hardened, processes } = subject.features

  itIf(noNetwork, "no address can be reached, of the host or beyond, and no name is resolved", async () => {
    let connections = 0
    const server = createServer((socket) => {
      connections += 1
      socket.destroy()
    })
    server.listen(0, "0.0.0.0")
    await once(server, "listening")
    const { port } = server.address() as AddressInfo
    const addresses = Object.values(networkInterfaces()).flatMap((list) =>
      (list ?? []).map(({ address }) => address),
    )
    try {
      const { stdout } = await within(
        succeed(shared(), python(networkProbe(port, addresses))),
        60,
        "the probe",
      )
      assert.equal(stdout, "tried\n")
      assert.equal(connections, 0)
    } finally {
      server.close()
    }
  })

  itIf(hardened, "the root cannot be written, by any path", async () => {
    const { stdout } = await within(
      succeed(
        shared(),
        python(`import os
allowed = tuple(place + "/" for place in ("/workspace", "/tmp", "/dev/shm", "/proc", "/dev"))
def attempt(what, action):
    try: action(); print("OPEN", what)
    except OSError: pass
for folder, folders, files in os.walk("/"):
    folders[:] = [name for name in folders if not (os.path.join(folder, name) + "/").startswith(allowed) and os.path.join(folder, name) != "/sys"]
    attempt(folder, lambda: os.close(os.open(os.path.join(folder, ".probe"), os.O_CREAT | os.O_WRONLY)))
for path in ("/etc/passwd", "/etc/hosts", "/etc/resolv.conf", "/etc/hostname", "/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/cgroup.procs", "/proc/self/oom_score_adj_min", "/sys/kernel/uevent_helper"):
    attempt(path, lambda: os.close(os.open(path, os.O_WRONLY | os.O_APPEND)))
for path in ("/proc/kcore", "/proc/kmsg", "/proc/timer_list", "/dev/mem", "/dev/kmsg", "/dev/sda", "/dev/fuse", "/dev/kvm", "/var/run/docker.sock", "/run/docker.sock"):
    attempt("read " + path, lambda: os.read(os.open(path, os.O_RDONLY | os.O_NONBLOCK), 16) or (_ for _ in ()).throw(OSError()))
print("tried")`),
      ),
      60,
      "the probe",
    )
    assert.equal(stdout, "tried\n")
  })

  itIf(
    hardened,
    "there are no capabilities, no new privileges, no root, and a filter on calls to the kernel",
    async () => {
      const { stdout } = await succeed(
        shared(),
        python(`import os, json
status = dict(line.rstrip("\\n").split(":\\t", 1) for line in open("/proc/self/status") if ":\\t" in line)
print(json.dumps({name: status[name].split()[0] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp")} | {"root": 0 in (os.getuid(), os.geteuid(), os.getgid(), *os.getgroups())}))`),
      )
      const none = "0".repeat(16)
      assert.deepEqual(JSON.parse(stdout), {
        CapInh: none,
        CapPrm: none,
        CapEff: none,
        CapBnd: none,
        CapAmb: none,
        NoNewPrivs: "1",
        Seccomp: "2",
        root: false,
      })
    },
  )

  itIf(
    hardened && processes,
    "namespaces, mounts, keys, tracing tools and devices are out of reach",
    async () => {
      const { stdout } = await succeed(shared(), python(KERNEL_PROBE))
      assert.equal(stdout, "tried\n")
    },
  )
}

function networkProbe(port: number, addresses: readonly string[]): string {
  return `import os, socket, struct
RAW, SEQPACKET = getattr(socket, "SOCK_RAW", 3), getattr(socket, "SOCK_SEQPACKET", 5)
def attempt(what, action):
    try: print("OPEN", what, action())
    except (OSError, UnicodeError, AttributeError): pass
def connect(address, port):
    with socket.create_connection((address, port), timeout=1) as link: return link.getpeername()
for address in [*${literal(addresses)}, "172.17.0.1", "host.docker.internal", "gateway.docker.internal", "127.0.0.1", "::1", "localhost"]:
    attempt(address, lambda: connect(address, ${port}))
for address, number in (("169.254.169.254", 80), ("169.254.170.2", 80), ("fd00:ec2::254", 80), ("100.100.100.200", 80), ("1.1.1.1", 53), ("8.8.8.8", 443), ("10.0.0.1", 80), ("192.168.0.1", 80)):
    attempt(address, lambda: connect(address, number))
for name in ("example.com", "metadata.google.internal", "one.one.one.one"):
    attempt(name, lambda: socket.getaddrinfo(name, 80))
def datagram(address):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link: return link.sendto(b"x", (address, 53))
for address in ("8.8.8.8", "172.17.0.1", "255.255.255.255"):
    attempt("udp " + address, lambda: datagram(address))
for family, kind in ((40, socket.SOCK_STREAM), (17, RAW), (socket.AF_INET, RAW), (38, SEQPACKET), (31, RAW)):
    attempt(f"family {family}", lambda: socket.socket(family, kind))
for name in os.listdir("/sys/class/net") if os.path.isdir("/sys/class/net") else []:
    if name != "lo": print("OPEN interface", name)
print("tried")`
}

const KERNEL_PROBE = `import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def refused(what, *call):
    ctypes.set_errno(0)
    if libc.syscall(*call) >= 0: print("OPEN", what)
if os.uname().machine == "x86_64":
    for flag, name in ((0x10000000, "user"), (0x00020000, "mount"), (0x40000000, "net"), (0x20000000, "pid"), (0x08000000, "ipc"), (0x04000000, "uts")):
        refused("unshare " + name, 272, flag)
    refused("clone with a user namespace", 56, 0x10000000 | 17, 0, 0, 0, 0)
    refused("setns", 308, 0, 0)
    refused("mount", 165, b"none", b"/tmp", b"tmpfs", 0, 0)
    refused("umount", 166, b"/tmp", 2)
    refused("pivot_root", 155, b"/tmp", b"/tmp")
    refused("chroot", 161, b"/tmp")
    refused("bpf", 321, 0, 0, 0)
    refused("perf_event_open", 298, 0, 0, -1, -1, 0)
    refused("userfaultfd", 323, 0)
    refused("keyctl", 250, 0, -3, 1)
    refused("add_key", 248, b"user", b"x", b"y", 1, -3)
    refused("io_uring_setup", 425, 1, (ctypes.c_char * 256)())
    refused("init_module", 175, 0, 0, b"")
    refused("kexec_load", 246, 0, 0, 0, 0)
    refused("reboot", 169, 0xfee1dead, 672274793, 0, 0)
    refused("swapon", 167, b"/tmp/x", 0)
    refused("open_by_handle_at", 304, -100, 0, 0)
    refused("setuid root", 105, 0)
    refused("setgid root", 106, 0)
    refused("personality", 135, 0x0040000)
    refused("process_vm_readv", 310, 1, 0, 0, 0, 0, 0)
    refused("clock_settime", 227, 0, (ctypes.c_long * 2)(0, 0))
    refused("sethostname", 170, b"x", 1)
print("tried")`
