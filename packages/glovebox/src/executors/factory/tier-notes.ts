import type { Tier } from "../../policy/index.ts"

export interface TierNotes {
  /** What it is, in a few words. */
  readonly what: string
  readonly protects: readonly string[]
  readonly doesNotProtectAgainst: readonly string[]
}

const CONTAINER = [
  "the host's files: the code sees the image and its workspace",
  "the network: there is none",
  "the host's environment and processes",
  "the kernel's lesser used calls: a seccomp filter, no capabilities, no new privileges, an unprivileged user",
  "exhaustion: time, memory, processors, processes, disk, files and output are bounded",
]
const SHARED_KERNEL = "a flaw in the host's kernel, which the code shares unless the runtime is gVisor"
const ANY_CODE = "wrong or misleading results: what comes out is still the code's word"
const WIDER = "whatever the policy allows beyond deny-all (policy.widenings() lists it)"

/** What each kind of sandbox holds, and what it does not. */
export const TIER_NOTES: Readonly<Record<Tier, TierNotes>> = {
  docker: {
    what: "hardened containers of a Docker engine",
    protects: CONTAINER,
    doesNotProtectAgainst: [SHARED_KERNEL, "whoever controls the engine or the image", WIDER, ANY_CODE],
  },
  jupyter: {
    what: "an IPython kernel in a hardened container",
    protects: CONTAINER,
    doesNotProtectAgainst: [
      SHARED_KERNEL,
      "earlier code of the same session: variables, imports and files stay",
      "whoever controls the engine or the image",
      WIDER,
      ANY_CODE,
    ],
  },
  bubblewrap: {
    what: "namespaces of their own, made by bubblewrap, without an engine",
    protects: [
      "the host's files but its programs: /usr is there, read-only",
      "the network: there is none",
      "the host's environment and processes",
      "the kernel's lesser used calls: a seccomp filter, no capabilities, no further user namespaces",
      "exhaustion: time and output always; memory, processors and processes by cgroups, or by weaker rlimits where no cgroup is to be had",
    ],
    doesNotProtectAgainst: [
      "a flaw in the host's kernel, which the code shares",
      "reading what everyone can read in the host's /usr",
      WIDER,
      ANY_CODE,
    ],
  },
  wasm: {
    what: "interpreters in WebAssembly, in a process of their own, with nothing but Node",
    protects: [
      "the host's files: the code has a file system in memory that holds its workspace",
      "the network: there are no sockets",
      "the host's environment, processes and kernel: the code makes no system calls",
      "exhaustion: time, memory, files and output are bounded, from outside",
    ],
    doesNotProtectAgainst: [
      "a flaw in V8's WebAssembly, behind which is a process of this user",
      "use of one processor up to the deadline",
      ANY_CODE,
    ],
  },
  local: {
    what: "this machine itself: no sandbox",
    protects: [
      "secrets in the environment: only harmless variables are passed",
      "time and output: code that overruns is ended, with its process group",
    ],
    doesNotProtectAgainst: [
      "anything that this user may do: read and change files, reach the network, start processes that stay",
      "exhaustion of memory, processes and disk",
      ANY_CODE,
    ],
  },
}
