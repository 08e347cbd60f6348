import { describe, expect, it } from "vitest"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import { SandboxPolicy } from "../../policy/index.ts"
import { type EffectiveInput, effectiveSettings } from "./effective-settings.ts"

const MiB = 1024 ** 2
const none = "0000000000000000"
const facts: EffectiveInput["facts"] = {
  version: 1,
  python: "3.11.2",
  uid: 65_532,
  gid: 65_532,
  status: {
    NoNewPrivs: "1",
    Seccomp: "2",
    CapInh: none,
    CapPrm: none,
    CapEff: none,
    CapBnd: none,
    CapAmb: none,
  },
  programs: {},
  interfaces: ["lo"],
  root: { readOnly: true },
  workspace: { bytes: 256 * MiB, files: 65_536 },
  cgroup: { version: 2, memory: 512 * MiB, swap: 0, pids: 129, cpus: 1 },
  ready: true,
}
const view: EffectiveInput["view"] = {
  uid: 65_532,
  gid: 65_532,
  seccompFilters: 1,
  processors: 4,
  shared: [],
  addressSpace: "unlimited",
  processes: 1000,
  coreFile: 0,
}
const cgroups = { memory: "cgroup", pids: "cgroup", cpus: "cgroup", files: "tmpfs", indirect: [] } as const
const rlimits = { memory: "rlimit", pids: "rlimit", cpus: "affinity", files: "tmpfs", indirect: [] } as const

function settings(change: Partial<EffectiveInput> = {}): Readonly<Record<string, unknown>> {
  return effectiveSettings({
    policy: new SandboxPolicy().fields,
    plan: cgroups,
    facts,
    view,
    identity: { uid: 65_532, gid: 65_532 },
    filters: 1,
    runtime: "bubblewrap 0.8.0",
    ...change,
  })
}

describe("effectiveSettings", () => {
  it("reports a sandbox that is as asked", () => {
    expect(settings()).toMatchObject({
      user: "65532:65532",
      hostUser: "65532:65532",
      enforcement: { memory: "cgroup", pids: "cgroup", cpus: "cgroup", files: "tmpfs" },
    })
    const kept = { ...view, addressSpace: 512 * MiB, processes: 128, processors: 1 }
    expect(settings({ plan: rlimits, view: kept })).toMatchObject({ enforcement: { memory: "rlimit" } })
  })

  it.each<[string, Partial<EffectiveInput>, RegExp]>([
    ["another user inside", { facts: { ...facts, uid: 0 } }, /user is "0:65532"/],
    ["root outside", { view: { ...view, uid: 0 } }, /user on this machine is "0:65532"/],
    ["a shared namespace", { view: { ...view, shared: ["net"] } }, /shared with this machine is \["net"\]/],
    ["a network", { facts: { ...facts, interfaces: ["lo", "eth0"] } }, /eth0/],
    ["a writable root", { facts: { ...facts, root: { readOnly: false } } }, /read-only flag is false/],
    ["new privileges", { facts: { ...facts, status: { ...facts.status, NoNewPrivs: "0" } } }, /NoNewPrivs/],
    [
      "a capability",
      { facts: { ...facts, status: { ...facts.status, CapBnd: "0000000000002000" } } },
      /CapBnd/,
    ],
    [
      "capabilities nobody knows",
      { facts: { ...facts, status: { ...facts.status, CapEff: null } } },
      /CapEff/,
    ],
    ["no filter", { facts: { ...facts, status: { ...facts.status, Seccomp: "0" } } }, /Seccomp is "0"/],
    ["too few filters", { filters: 2 }, /seccomp filters/],
    ["core files", { view: { ...view, coreFile: "unlimited" } }, /core files/],
    [
      "a large workspace",
      { facts: { ...facts, workspace: { bytes: 1e12, files: 65_536 } } },
      /within its bytes/,
    ],
    ["many files", { facts: { ...facts, workspace: { bytes: 256 * MiB, files: 1e7 } } }, /within its files/],
    [
      "more memory",
      { facts: { ...facts, cgroup: { ...facts.cgroup, memory: null } } },
      /memory limit of the cgroup is null/,
    ],
    [
      "more processes",
      { facts: { ...facts, cgroup: { ...facts.cgroup, pids: 4096 } } },
      /process limit of the cgroup/,
    ],
    ["more processors", { facts: { ...facts, cgroup: { ...facts.cgroup, cpus: null } } }, /processor share/],
    ["no RLIMIT_AS", { plan: rlimits }, /RLIMIT_AS is "unlimited"/],
    ["no RLIMIT_NPROC", { plan: rlimits }, /RLIMIT_NPROC is 1000/],
    ["no affinity", { plan: rlimits }, /processors is 4 instead of 1/],
  ])("refuses one with %s", (_, change, message) => {
    const failure = failureOf(() => settings(change))
    expect(failure).toMatch(/^SANDBOX_UNENFORCEABLE: /)
    expect(failure).toMatch(message)
  })
})
