import { describe, expect, it } from "vitest"
import { seccompProfile } from "./seccomp-profile.ts"

const profile = seccompProfile("amd64")
const rules = profile?.syscalls ?? []
const allowed = rules.filter((rule) => rule.action === "SCMP_ACT_ALLOW")
const always = allowed.filter((rule) => rule.args === undefined)
const allowedNames = new Set(allowed.flatMap((rule) => rule.names))

const matches = (name: string, ...values: readonly bigint[]): boolean =>
  allowed
    .filter((rule) => rule.names.includes(name))
    .some((rule) =>
      (rule.args ?? []).every((argument) => {
        const value = values[argument.index] ?? 0n
        return argument.op === "SCMP_CMP_EQ"
          ? value === BigInt(argument.value)
          : (value & BigInt(argument.value)) === BigInt(argument.valueTwo ?? 0)
      }),
    )

describe("the seccomp profile", () => {
  it.each([
    ["amd64", "SCMP_ARCH_X86_64"],
    ["x86_64", "SCMP_ARCH_X86_64"],
    ["arm64", "SCMP_ARCH_AARCH64"],
    ["aarch64", "SCMP_ARCH_AARCH64"],
  ])("is for the native architecture alone on %s", (architecture, name) => {
    expect(seccompProfile(architecture)?.architectures).toEqual([name])
  })

  it.each(["386", "arm", "riscv64", "s390x", "constructor", ""])("is not written for %j", (architecture) => {
    expect(seccompProfile(architecture)).toBeUndefined()
  })

  it("refuses with EPERM what it does not name", () => {
    expect(profile).toMatchObject({ defaultAction: "SCMP_ACT_ERRNO", defaultErrnoRet: 1 })
  })

  it("names each call once, in sorted groups", () => {
    const names = always.flatMap((rule) => rule.names)
    expect(new Set(names).size).toBe(names.length)
    for (const rule of always) expect(rule.names).toEqual(rule.names.toSorted())
    for (const name of names) expect(name).toMatch(/^[a-z][a-z0-9_]*$/u)
  })

  it("gives no call both with and without a condition", () => {
    const names = new Set(always.flatMap((rule) => rule.names))
    const conditional = rules.filter((rule) => !always.includes(rule)).flatMap((rule) => rule.names)
    expect(conditional.filter((name) => names.has(name))).toEqual([])
  })

  it.each([
    ["namespaces", "unshare setns clone3"],
    [
      "mounts",
      "mount umount2 pivot_root chroot move_mount open_tree fsopen fsconfig fsmount fspick mount_setattr",
    ],
    [
      "the kernel itself",
      "init_module finit_module delete_module kexec_load kexec_file_load bpf perf_event_open",
    ],
    ["keys", "add_key keyctl request_key"],
    ["other processes", "ptrace process_vm_readv process_vm_writev process_madvise kcmp pidfd_getfd"],
    ["what no filter sees", "io_uring_setup io_uring_enter io_uring_register userfaultfd"],
    ["files by handle", "open_by_handle_at name_to_handle_at fanotify_init fanotify_mark lookup_dcookie"],
    ["the machine", "reboot swapon swapoff quotactl acct syslog vhangup iopl ioperm nfsservctl sethostname"],
    ["the clocks", "settimeofday clock_settime clock_adjtime adjtimex"],
  ])("gives nothing that reaches %s", (_, names) => {
    expect(names.split(" ").filter((name) => allowedNames.has(name))).toEqual([])
  })

  it("gives the limits of the caller alone", () => {
    const others = [1n, 2n, 1n << 32n]
    expect(matches("prlimit64", 0n)).toBe(true)
    expect(others.filter((pid) => matches("prlimit64", pid))).toEqual([])
  })

  it.each(["sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler"])(
    "gives %s for every thread but the agent's",
    (name) => {
      // The kernel takes the lower half of the number.
      expect([1n, (1n << 32n) + 1n].filter((pid) => matches(name, pid))).toEqual([])
      expect([0n, 2n, 3n, 65_537n, 0x7fff_ffffn].filter((pid) => !matches(name, pid))).toEqual([])
    },
  )

  it.each([
    ["setpriority", 0n],
    ["ioprio_set", 1n],
  ])("gives %s for the caller alone, never for its user or group", (name, process) => {
    expect(matches(name, process, 0n)).toBe(true)
    expect(matches(name, process, 1n)).toBe(false)
    for (const which of [1n - process, 2n, 3n]) expect(matches(name, which, 0n)).toBe(false)
  })

  it("gives what new C libraries and runtimes ask for", () => {
    const names =
      "rseq statx faccessat2 openat2 close_range epoll_pwait2 futex_waitv landlock_create_ruleset memfd_create " +
      "pidfd_open pidfd_send_signal copy_file_range preadv2 pwritev2 clock_nanosleep getrandom membarrier mseal " +
      "cachestat set_robust_list sched_getaffinity arch_prctl mknod mknodat setuid setgid restart_syscall"
    expect(names.split(" ").filter((name) => !allowedNames.has(name))).toEqual([])
  })

  it("answers clone3 as if it were missing", () => {
    expect(rules.filter((rule) => rule.names.includes("clone3"))).toEqual([
      { names: ["clone3"], action: "SCMP_ACT_ERRNO", errnoRet: 38 },
    ])
  })

  it("lets clone make threads and processes, and no namespace", () => {
    const thread = 0x3d0f00n
    expect(matches("clone", 17n)).toBe(true)
    expect(matches("clone", thread)).toBe(true)
    const namespaces = [0x20000n, 0x2000000n, 0x4000000n, 0x8000000n, 0x10000000n, 0x20000000n, 0x40000000n]
    for (const namespace of namespaces) expect(matches("clone", namespace | thread)).toBe(false)
  })

  it("lets no terminal be typed into, whatever the upper half of the request is", () => {
    for (const request of [0x5412n, 0x541cn, 0x1_0000_5412n, 0xffff_ffff_0000_541cn])
      expect(matches("ioctl", 0n, request), request.toString(16)).toBe(false)
    const requests = Array.from({ length: 0x1000 }, (_, request) => BigInt(0x5000 + request))
    expect(requests.filter((request) => !matches("ioctl", 0n, request))).toEqual([0x5412n, 0x541cn])
    for (const request of [0x8000_5412n, 0x4004_541cn, 0xffff_ffffn])
      expect(matches("ioctl", 0n, request)).toBe(true)
  })

  it("gives sockets of four families, and of netlink the routes alone", () => {
    const families = Array.from({ length: 64 }, (_, family) => BigInt(family))
    expect(families.filter((family) => matches("socket", family, 1n, 0n))).toEqual([1n, 2n, 10n, 16n])
    expect(matches("socket", 2n, 1n, 6n)).toBe(true)
    expect(matches("socket", 16n, 3n, 9n)).toBe(false)
    expect(matches("socket", 0x1_0000_0028n, 1n, 0n)).toBe(false)
    expect(families.filter((family) => matches("socketpair", family, 1n, 0n))).toEqual([1n])
  })

  it("keeps address randomisation on", () => {
    for (const persona of [0n, 8n, 0x20000n, 0x20008n, 0xffffffffn])
      expect(matches("personality", persona)).toBe(true)
    expect(matches("personality", 0x40000n)).toBe(false)
  })
})
