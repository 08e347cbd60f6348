interface ArgumentRule {
  readonly index: number
  readonly value: number
  readonly valueTwo?: number
  readonly op: "SCMP_CMP_EQ" | "SCMP_CMP_MASKED_EQ"
}

interface SyscallRule {
  readonly names: readonly string[]
  readonly action: "SCMP_ACT_ALLOW" | "SCMP_ACT_ERRNO"
  readonly errnoRet?: number
  readonly args?: readonly ArgumentRule[]
}

interface SeccompProfile {
  readonly defaultAction: "SCMP_ACT_ERRNO"
  readonly defaultErrnoRet: number
  readonly architectures: readonly string[]
  readonly syscalls: readonly SyscallRule[]
}

const EPERM = 1
const ENOSYS = 38

const words = (text: string): readonly string[] => text.trim().split(/\s+/u)

const files = words(`
  access cachestat chdir chmod chown close close_range copy_file_range creat dup dup2 dup3 faccessat
  faccessat2 fadvise64 fallocate fchdir fchmod fchmodat fchmodat2 fchown fchownat fcntl fdatasync flock
  fstat fstatfs fsync ftruncate futimesat getcwd getdents getdents64 lchown link linkat lseek lstat
  memfd_create mkdir mkdirat mknod mknodat newfstatat open openat openat2 pipe pipe2 pread64 preadv preadv2
  pwrite64 pwritev pwritev2 read readahead readlink readlinkat readv rename renameat renameat2 rmdir
  sendfile splice stat statfs statx symlink symlinkat sync sync_file_range syncfs tee truncate umask unlink
  unlinkat utime utimensat utimes write writev
`)

const attributes = words(`
  fgetxattr flistxattr fremovexattr fsetxattr getxattr getxattrat lgetxattr listxattr listxattrat llistxattr
  lremovexattr lsetxattr removexattr removexattrat setxattr setxattrat
`)

// No io_uring, whose operations no filter sees, and no fanotify.
const waiting = words(`
  epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 epoll_wait eventfd eventfd2
  inotify_add_watch inotify_init inotify_init1 inotify_rm_watch poll ppoll pselect6 select signalfd
  signalfd4
`)

// No userfaultfd: it makes kernel races easy to win.
const memory = words(`
  brk madvise map_shadow_stack memfd_secret mincore mlock mlock2 mlockall mmap mprotect mremap mseal msync
  munlock munlockall munmap pkey_alloc pkey_free pkey_mprotect remap_file_pages
`)

// No ptrace, process_vm_*, kcmp or pidfd_getfd: the agent has the same user as what it runs.
const processes = words(`
  execve execveat exit exit_group fork getpgid getpgrp getpid getppid getpriority getrlimit getrusage getsid
  gettid ioprio_get kill pidfd_open pidfd_send_signal prctl setpgid setrlimit setsid tgkill times tkill vfork
  wait4 waitid
`)

const threads = words(`
  arch_prctl futex futex_requeue futex_wait futex_waitv futex_wake get_robust_list getcpu membarrier rseq
  sched_get_priority_max sched_get_priority_min sched_getaffinity sched_getattr sched_getparam
  sched_getscheduler sched_rr_get_interval sched_yield set_robust_list set_tid_address
`)

const signals = words(`
  alarm pause restart_syscall rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn
  rt_sigsuspend rt_sigtimedwait rt_tgsigqueueinfo sigaltstack
`)

// Reading clocks, never setting them.
const time = words(`
  clock_getres clock_gettime clock_nanosleep getitimer gettimeofday nanosleep setitimer time timer_create
  timer_delete timer_getoverrun timer_gettime timer_settime timerfd_create timerfd_gettime timerfd_settime
`)

const sockets = words(`
  accept accept4 bind connect getpeername getsockname getsockopt listen recvfrom recvmmsg recvmsg sendmmsg
  sendmsg sendto setsockopt shutdown
`)

const sharedData = words(`
  mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedsend mq_unlink msgctl msgget msgrcv msgsnd semctl
  semget semop semtimedop shmat shmctl shmdt shmget
`)

// Harmless without capabilities, and many programs drop to the user they already are.
const identity = words(`
  capget capset getegid geteuid getgid getgroups getresgid getresuid getuid setfsgid setfsuid setgid
  setgroups setregid setresgid setresuid setreuid setuid
`)

// A program may give up more than was taken from it.
const restraints = words(`landlock_add_rule landlock_create_ruleset landlock_restrict_self seccomp`)

const system = words(`getrandom sysinfo uname`)

const unconditional = [
  files,
  attributes,
  waiting,
  memory,
  processes,
  threads,
  signals,
  time,
  sockets,
  sharedData,
  identity,
  restraints,
  system,
]

const NEW_NAMESPACES = 0x7e02_0000
const PERSONALITIES = [0x0, 0x8, 0x2_0000, 0x2_0008, 0xffff_ffff]
const AF_UNIX = 1
const AF_INET = 2
const AF_INET6 = 10
const AF_NETLINK = 16
const NETLINK_ROUTE = 0
const TIOCSTI = 0x5412
const TIOCLINUX = 0x541c

const equal = (index: number, value: number): ArgumentRule => ({ index, value, op: "SCMP_CMP_EQ" })

// In Docker's form `value` is the mask and `valueTwo` what the masked argument must be.
const masked = (index: number, mask: number, value: number): ArgumentRule => ({
  index,
  value: mask,
  valueTwo: value,
  op: "SCMP_CMP_MASKED_EQ",
})

const allow = (names: readonly string[], ...args: readonly ArgumentRule[]): SyscallRule => ({
  names,
  action: "SCMP_ACT_ALLOW",
  ...(args.length > 0 ? { args } : {}),
})

const bit = (value: number, mask: number): boolean => (value & mask) !== 0

const bits = Array.from({ length: 32 }, (_, position) => 2 ** position)

/**
 * Rules that together hold for every 32-bit value but this one. The kernel ignores the upper half of the argument, which
 * "not equal" would compare too, and a rule that refuses cannot stand beside one that allows the same call.
 */
const allBut = (one: number, rule: (mask: number, value: number) => SyscallRule): SyscallRule[] =>
  bits.map((mask) => rule(mask, bit(one, mask) ? 0 : mask))

/** The same for two values. */
const allButBoth = (
  one: number,
  other: number,
  rule: (mask: number, value: number) => SyscallRule,
): SyscallRule[] => {
  const common = bits.filter((mask) => bit(one, mask) === bit(other, mask))
  const apart = bits.filter((mask) => bit(one, mask) !== bit(other, mask))
  const beside = apart.slice(1).flatMap((mask, index): SyscallRule[] => {
    const before = apart[index] ?? 0
    const both = before + mask
    const mix = (bit(one, before) ? before : 0) + (bit(other, mask) ? mask : 0)
    return [rule(both, mix), rule(both, both - mix)]
  })
  return [...common.map((mask) => rule(mask, bit(one, mask) ? 0 : mask)), ...beside]
}

const IOPRIO_WHO_PROCESS = 1
const PRIO_PROCESS = 0
const SELF = 0
const AGENT = 1

const conditional: readonly SyscallRule[] = [
  // The agent has the same user, and could be crippled or starved by a program.
  allow(["prlimit64"], equal(0, SELF)),
  // Libraries set these for threads, by their numbers.
  ...allBut(AGENT, (mask, value) =>
    allow(words("sched_setaffinity sched_setattr sched_setparam sched_setscheduler"), masked(0, mask, value)),
  ),
  allow(["setpriority"], equal(0, PRIO_PROCESS), equal(1, SELF)),
  allow(["ioprio_set"], equal(0, IOPRIO_WHO_PROCESS), equal(1, SELF)),
  allow(["clone"], masked(0, NEW_NAMESPACES, 0)),
  // Its flags are in memory, where no filter looks; told that it is missing, C libraries fall back to clone.
  { names: ["clone3"], action: "SCMP_ACT_ERRNO", errnoRet: ENOSYS },
  ...PERSONALITIES.map((persona) => allow(["personality"], equal(0, persona))),
  ...[AF_UNIX, AF_INET, AF_INET6].map((family) => allow(["socket"], equal(0, family))),
  // The list of network interfaces is read with it.
  allow(["socket"], equal(0, AF_NETLINK), equal(2, NETLINK_ROUTE)),
  allow(["socketpair"], equal(0, AF_UNIX)),
  // Both type into the terminal as if its user did.
  ...allButBoth(TIOCSTI, TIOCLINUX, (mask, value) => allow(["ioctl"], masked(1, mask, value))),
]

const architectures = new Map([
  ["amd64", "SCMP_ARCH_X86_64"],
  ["x86_64", "SCMP_ARCH_X86_64"],
  ["arm64", "SCMP_ARCH_AARCH64"],
  ["aarch64", "SCMP_ARCH_AARCH64"],
])

/**
 * The system calls that a program in the sandbox may make, in Docker's format. What is not listed fails with EPERM, and
 * a program for another architecture (32-bit x86 included) is killed. Undefined where no list is written.
 */
export function seccompProfile(architecture: string): SeccompProfile | undefined {
  const native = architectures.get(architecture)
  if (native === undefined) return undefined
  return {
    defaultAction: "SCMP_ACT_ERRNO",
    defaultErrnoRet: EPERM,
    architectures: [native],
    syscalls: [...unconditional.map((names) => allow(names)), ...conditional],
  }
}
