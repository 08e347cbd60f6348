import { WORKSPACE } from "../policy/workspace-folder.ts"
import { CONTAINERS, inside } from "./define-probe.ts"
import type { Probe, ProbeContext } from "./probe.ts"
import { filtered, reachesAgent, unlessGranted } from "./promises.ts"
import { ALL_POWERS } from "./weakening.ts"

const IMAGE_PLACES = [
  "/",
  "/etc",
  "/usr",
  "/usr/bin",
  "/usr/local",
  "/var",
  "/var/tmp",
  "/opt",
  "/home",
  "/root",
  "/run",
]
const CONTAINER_MOUNTS = [
  "/",
  "/proc",
  "/sys",
  "/dev",
  "/etc/resolv.conf",
  "/etc/hostname",
  "/etc/hosts",
  "/tmp",
]
const DEVICE_MOUNTS = ["tmpfs", "devpts", "mqueue", "devtmpfs", "dev"]
const DEVICES = "null zero full random urandom tty ptmx console stdin stdout stderr fd core".split(" ")

function knownMounts({ policy, facts }: ProbeContext): string[] {
  return [...CONTAINER_MOUNTS, WORKSPACE, ...policy.mounts.map(({ target }) => target), ...facts.imageVolumes]
}

/** The root, mounts, devices, and files of the kernel. */
export const FILESYSTEM_PROBES: readonly Probe[] = [
  inside("filesystem", {
    id: "fs.write-root",
    title: "write a file to the image's own folders",
    why: "what is planted there runs with the next program that uses it",
    attack: "write_root",
    given: () => ({ places: IMAGE_PLACES }),
    expects: ({ policy }) => (policy.readOnlyRoot ? "BLOCKED" : "ALLOWED"),
    weakened: ["writable-root"],
    quick: true,
  }),
  inside("filesystem", {
    id: "fs.remount",
    title: "mount the root, /proc and /sys anew, writable",
    why: "a read-only mount that can be mounted anew is not read-only",
    attack: "remount_root",
    expects: filtered("SYS_ADMIN"),
    weakened: ALL_POWERS,
    quick: true,
  }),
  inside("filesystem", {
    id: "fs.host-file",
    title: "read a file of the host by its path, and through /proc",
    why: "the host's files are what a sandbox is to keep from code",
    weakened: ["host-mount"],
    quick: true,
    attack: "read_outside",
    watch: async ({ canary }) => ({ given: { paths: [canary.file], secret: canary.secret } }),
  }),
  inside("filesystem", {
    id: "fs.other-processes",
    title: "reach the root, folder, files and memory of other processes through /proc",
    why: "the agent is a process of the same user: who reaches into it speaks in its place",
    attack: "other_processes",
    // A kernel of Jupyter's is the code's own process.
    given: ({ facts }) => ({ only: facts.tier === "jupyter" ? ["1"] : [] }),
    expects: reachesAgent,
    weakened: ALL_POWERS,
    quick: true,
  }),
  inside("filesystem", {
    id: "fs.inherited-files",
    title: "find open files that were left to the program",
    why: "an open folder of the host leads out of every root (CVE-2024-21626)",
    attack: "inherited_files",
    // A kernel of Jupyter's has its own sockets and pipes.
    tiers: ["docker", "bubblewrap"],
    planted: () => ({ plant: true }),
    quick: true,
  }),
  inside("filesystem", {
    id: "fs.foreign-mounts",
    title: "find mounts that the policy does not have",
    why: "a mount that nobody asked for is a way to the host",
    attack: "foreign_mounts",
    given: (context) => ({ places: knownMounts(context), kinds: DEVICE_MOUNTS }),
    tiers: CONTAINERS,
    weakened: ["host-mount"],
    quick: true,
  }),
  inside("filesystem", {
    id: "fs.setuid-places",
    onKernel: true,
    title: "find a writable place where setuid counts",
    why: "a setuid program that code can write makes another user of whoever runs it",
    attack: "place_options",
    given: () => ({ option: "nosuid" }),
    expects: (context) => (context.policy.mounts.some(({ mode }) => mode === "rw") ? undefined : "BLOCKED"),
    tiers: CONTAINERS,
    weakened: ["tmpfs-suid"],
    quick: true,
  }),
  inside("filesystem", {
    id: "fs.device-places",
    onKernel: true,
    title: "find a writable place where device files count",
    why: "a device file that code can make is the device",
    attack: "place_options",
    given: () => ({ option: "nodev" }),
    expects: (context) => (context.policy.mounts.some(({ mode }) => mode === "rw") ? undefined : "BLOCKED"),
    tiers: CONTAINERS,
    weakened: ["tmpfs-dev"],
    quick: true,
  }),
  inside("filesystem", {
    id: "fs.make-device",
    onKernel: true,
    title: "make a device file",
    why: "the disk of the host is a device",
    attack: "make_device",
    given: () => ({ folder: "/tmp" }),
    expects: unlessGranted("MKNOD"),
    weakened: ALL_POWERS,
    quick: true,
  }),
  inside("filesystem", {
    id: "fs.devices",
    onKernel: true,
    title: "find devices beyond the harmless ones in /dev",
    why: "/dev/kvm, /dev/fuse, a disk or a GPU is a wide door into the kernel",
    attack: "foreign_devices",
    given: () => ({ known: DEVICES }),
    weakened: ["host-device"],
    quick: true,
  }),
  inside("filesystem", {
    id: "fs.kernel-settings",
    title: "open settings of the kernel in /proc for writing",
    why: "core_pattern and modprobe name programs that the kernel runs as root of the host",
    attack: "kernel_settings",
    expects: filtered("SYS_ADMIN"),
    weakened: [...ALL_POWERS, "unmasked-paths"],
    quick: true,
  }),
  inside("filesystem", {
    id: "fs.kernel-objects",
    title: "open settings of the kernel in /sys for writing",
    why: "they are the host's own",
    attack: "kernel_objects",
    expects: filtered("SYS_ADMIN"),
    weakened: ALL_POWERS,
  }),
  inside("filesystem", {
    id: "fs.cgroups",
    title: "change its own limits, or make a cgroup, in /sys/fs/cgroup",
    why: "release_agent names a program that the host runs as root (CVE-2022-0492)",
    attack: "control_groups",
    expects: filtered("SYS_ADMIN"),
    weakened: ALL_POWERS,
    quick: true,
  }),
  inside("filesystem", {
    id: "fs.masked-paths",
    title: "read what /proc and /sys tell of the machine: kcore, keys, timers, firmware",
    why: "kcore is the memory of the host (CVE-2025-31133)",
    attack: "masked_paths",
    tiers: CONTAINERS,
    weakened: ["root-user", "all-capabilities", "unmasked-paths"],
    quick: true,
  }),
  inside("filesystem", {
    id: "fs.open-by-handle",
    title: "open a file by its number in the file system",
    why: "so the first escape from Docker read the host's files",
    attack: "open_by_handle",
    given: () => ({ folder: "/tmp" }),
    expects: filtered("DAC_READ_SEARCH"),
    weakened: ALL_POWERS,
  }),
  inside("filesystem", {
    id: "fs.change-root",
    title: "change the root folder",
    why: "chroot with an open folder is a way out of a root",
    attack: "change_root",
    given: () => ({ folder: "/tmp" }),
    expects: filtered("SYS_CHROOT"),
    weakened: ALL_POWERS,
  }),
]

/** What a policy's own mounts are to let and to refuse: one of each for every mount. */
export function mountProbes({ policy }: ProbeContext): Probe[] {
  return policy.mounts.flatMap(({ target, mode }) => [
    inside("filesystem", {
      id: `fs.mount-read:${target}`,
      title: `read what the policy mounts at ${target}`,
      why: "the policy gives it to the code",
      attack: "read_mount",
      given: () => ({ path: target }),
      expects: () => "ALLOWED",
      quick: true,
    }),
    inside("filesystem", {
      id: `fs.mount-write:${target}`,
      title: `write to what the policy mounts at ${target}, ${mode === "ro" ? "read-only" : "writable"}`,
      why: "a folder that both sides write is how code changes files of the host",
      attack: "write_mount",
      given: () => ({ path: target, name: ".glovebox-probe" }),
      expects: () => (mode === "ro" ? "BLOCKED" : "ALLOWED"),
      weakened: ["mounts-writable"],
      quick: true,
    }),
  ])
}
