import type Docker from "dockerode"
import { describe, expect, it } from "vitest"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import { type PolicyInput, SandboxPolicy } from "../../policy/index.ts"
import type { Facts } from "../sandbox/agent-answers.ts"
import { FACTS } from "../sandbox/agent-line.test-kit.ts"
import { type ContainerSpec, containerSpec } from "./container-spec.ts"
import { type EffectiveSettings, effectiveSettings } from "./effective-settings.ts"

function specOf(policy: PolicyInput, imageVolumes: readonly string[] = [], runtime = "runc"): ContainerSpec {
  return containerSpec({
    policy: new SandboxPolicy(policy).fields,
    imageId: "sha256:image",
    imageVolumes,
    command: ["python3"],
    architecture: "x86_64",
    runtime,
    isPodman: false,
    labels: {},
    extraHosts: {},
    deviceRequests: [],
    autoRemove: true,
    endsWithConnection: true,
    env: {},
  })
}

interface Changes {
  readonly policy?: PolicyInput
  /** What the engine says otherwise than it was asked. */
  readonly config?: object
  readonly host?: object
  readonly image?: string
  readonly mounts?: readonly object[]
  /** What the agent says otherwise; undefined for an agent that says nothing. */
  readonly facts?: Partial<Facts> | "none"
}

/** The settings of a container that is as asked, but for these changes. */
function check({ policy = {}, config, host, image, mounts, facts }: Changes = {}): EffectiveSettings {
  const spec = specOf(policy)
  const inspected = {
    Image: image ?? spec.Image,
    Config: { User: spec.User, ...config },
    HostConfig: { ...spec.HostConfig, ...host },
    Mounts: mounts ?? [],
  } as unknown as Docker.ContainerInspectInfo
  const said = facts === "none" ? undefined : { ...FACTS, ...facts }
  return effectiveSettings(new SandboxPolicy(policy).fields, spec, inspected, said)
}

const refusal = (changes: Changes): string => failureOf(() => check(changes))
const status = (fields: Record<string, string>): Partial<Facts> => ({
  status: { ...FACTS.status, ...fields },
})

describe("effectiveSettings", () => {
  it("reads what the engine and the kernel say of a container that is as asked", () => {
    const { image, runtime, settings } = check()
    expect([image, runtime]).toEqual(["sha256:image", "runc"])
    expect(settings).toMatchObject({
      user: "65532:65532",
      network: "none",
      readOnlyRoot: true,
      privileged: false,
      capabilities: [],
      noNewPrivileges: true,
      unconfined: [],
      memory: 512 * 1024 ** 2,
      pids: 128,
      cpus: 1,
      kernel: { NoNewPrivs: "1", Seccomp: "2", interfaces: ["lo"], readOnlyRoot: true },
    })
  })

  it("takes the ways in which engines write the same", () => {
    const [, seccomp] = specOf({}).HostConfig.SecurityOpt
    check({ host: { SecurityOpt: [seccomp, "no-new-privileges:true"] } })
    check({
      policy: { capabilities: ["CHOWN"] },
      host: { CapAdd: ["CAP_CHOWN"] },
      facts: status({ CapBnd: "1" }),
    })
    check({ host: { CapAdd: null, Devices: null } })
    expect(check({ image: "image" }).image).toBe("sha256:image")
  })

  it("refuses each single difference in what the engine says, and names it", () => {
    const differences: [string, Changes][] = [
      ["image", { image: "sha256:other" }],
      ["user", { config: { User: "" } }],
      ["user", { config: { User: "0:0" } }],
      ["runtime", { host: { Runtime: "crun" } }],
      ["network", { host: { NetworkMode: "bridge" } }],
      ["network", { host: { NetworkMode: "default" } }],
      ["readOnlyRoot", { host: { ReadonlyRootfs: false } }],
      ["privileged", { host: { Privileged: true } }],
      ["capabilities", { host: { CapAdd: ["NET_RAW"] } }],
      ["noNewPrivileges", { host: { SecurityOpt: [] } }],
      ["noNewPrivileges", { host: { SecurityOpt: ["no-new-privileges:false"] } }],
      ["unconfined", { host: { SecurityOpt: ["no-new-privileges", "seccomp=unconfined"] } }],
      ["unconfined", { host: { SecurityOpt: ["no-new-privileges", "apparmor=unconfined"] } }],
      ["unconfined", { host: { SecurityOpt: ["no-new-privileges", "label=disable"] } }],
      ["memory", { host: { Memory: 0 } }],
      ["memory", { host: { Memory: 513 * 1024 ** 2 } }],
      ["memoryAndSwap", { host: { MemorySwap: -1 } }],
      ["memoryAndSwap", { host: { MemorySwap: 1024 ** 3 } }],
      ["cpus", { host: { NanoCpus: 0 } }],
      ["pids", { host: { PidsLimit: null } }],
      ["pids", { host: { PidsLimit: -1 } }],
      ["devices", { host: { Devices: [{ PathOnHost: "/dev/kmsg" }] } }],
      ["hostPid", { host: { PidMode: "host" } }],
      ["hostIpc", { host: { IpcMode: "host" } }],
    ]
    for (const [name, changes] of differences) {
      expect([name, refusal(changes)]).toEqual([
        name,
        expect.stringMatching(new RegExp(`^SANDBOX_UNENFORCEABLE: .*nothing runs in it: .*\\b${name} is `)),
      ])
      expect([name, refusal({ ...changes, facts: "none" })]).toEqual([
        name,
        expect.stringContaining(`${name} is `),
      ])
    }
  })

  it("refuses more that the engine might make of it, although no field of the policy has its name", () => {
    const differences: Record<string, Changes> = {
      CapDrop: { host: { CapDrop: [] } },
      LogConfig: { host: { LogConfig: { Type: "json-file", Config: {} } } },
      "the other container's processes": { host: { PidMode: "container:abc" } },
      "the other container's memory": { host: { IpcMode: "container:abc" } },
      "memory that others may join": { host: { IpcMode: "shareable" } },
      CgroupnsMode: { host: { CgroupnsMode: "host" } },
      UsernsMode: { host: { UsernsMode: "host" } },
      "no seccomp profile of ours": { host: { SecurityOpt: ["no-new-privileges"] } },
      GroupAdd: { host: { GroupAdd: ["docker"] } },
      Tmpfs: { host: { Tmpfs: { "/workspace": "rw,exec" } } },
    }
    const accepted = Object.entries(differences).flatMap(([name, changes]) => {
      try {
        check({ ...changes, facts: "none" })
        return [name]
      } catch {
        return []
      }
    })
    expect(accepted).toEqual([])
  })

  it("refuses each single difference in what the kernel says, and names it", () => {
    const cgroup = (fields: Partial<Facts["cgroup"]>): Partial<Facts> => ({
      cgroup: { ...FACTS.cgroup, ...fields },
    })
    const differences: [RegExp, Partial<Facts>][] = [
      [/user is "0:65532"/, { uid: 0 }],
      [/user is "65532:0"/, { gid: 0 }],
      [/network interfaces is \["eth0"\]/, { interfaces: ["lo", "eth0"] }],
      [/root's read-only flag/, { root: { readOnly: false } }],
      [/workspace within its bytes/, { workspace: { bytes: 2 ** 40, files: 1 } }],
      [/workspace within its bytes/, { workspace: { bytes: 0, files: 1 } }],
      [/workspace within its files/, { workspace: { bytes: 4096, files: 2 ** 20 } }],
      [/NoNewPrivs is "0"/, status({ NoNewPrivs: "0" })],
      [/Seccomp is "0"/, status({ Seccomp: "0" })],
      [/capability bounds/, status({ CapBnd: "00000000a80425fb" })],
      [/memory limit/, cgroup({ memory: 1024 ** 3 })],
      [/process limit/, cgroup({ pids: 4096 })],
    ]
    for (const [message, facts] of differences) {
      expect(refusal({ facts })).toMatch(/^SANDBOX_UNENFORCEABLE/)
      expect(refusal({ facts })).toMatch(message)
    }
  })

  it("tells capabilities by which they are, not by how many", () => {
    const policy = { capabilities: ["CHOWN"] }
    check({ policy, facts: status({ CapBnd: "0000000000000001" }) })
    // CAP_SYS_ADMIN in the place of CAP_CHOWN.
    expect(refusal({ policy, facts: status({ CapBnd: "0000000000200000" }) })).toMatch(/capability/)
  })

  it("tolerates what the kernel does not say, and a page of rounding, but not a workspace that nobody sees", () => {
    check({ facts: { interfaces: null, root: { readOnly: null } } })
    check({ facts: { workspace: { bytes: 256 * 1024 ** 2 + 4096, files: 65_536 } } })
    check({ facts: { cgroup: { version: null, memory: null, swap: null, pids: null, cpus: null } } })
    expect(refusal({ facts: { workspace: { bytes: null, files: null } } })).toMatch(
      /workspace within its bytes/,
    )
  })

  it("asks no host kernel under a runtime with a kernel of its own", () => {
    const spec = { ...specOf({}, [], "runsc") }
    const host = spec.HostConfig
    const inspected = {
      Image: spec.Image,
      Config: { User: spec.User },
      HostConfig: host,
      Mounts: [],
    } as unknown as Docker.ContainerInspectInfo
    const facts = { ...FACTS, ...status({ NoNewPrivs: "0", Seccomp: "0" }) }
    const asked = { ...spec, HostConfig: host }
    expect(effectiveSettings(new SandboxPolicy().fields, asked, inspected, facts).runtime).toBe("runsc")
  })

  it("refuses mounts that were not asked for, or are wider than asked", () => {
    const policy = { mounts: [{ source: "/data", target: "/in" }] }
    const asked = { Type: "bind", Destination: "/in", RW: false }
    check({ policy, mounts: [asked, { Type: "tmpfs", Destination: "/workspace", RW: true }] })
    const wrong: [RegExp, object][] = [
      [/mount of \/in is "writable" instead of "read-only"/, { ...asked, RW: true }],
      [
        /mount of \/data is "writable" instead of "absent"/,
        { Type: "volume", Destination: "/data", RW: true },
      ],
      [/mount of \/x is "read-only" instead of "absent"/, { Type: "bind", Destination: "/x", RW: false }],
      [/mount of \/workspace/, { Type: "volume", Destination: "/workspace", RW: true }],
      [/mount of \/other/, { Type: "tmpfs", Destination: "/other", RW: true }],
    ]
    for (const [message, mount] of wrong) expect(refusal({ policy, mounts: [mount] })).toMatch(message)
  })

  it("lists all differences at once", () => {
    const text = refusal({ host: { Memory: 0, ReadonlyRootfs: false }, facts: { uid: 0 } })
    expect(text).toMatch(/readOnlyRoot is false instead of true; memory is 0 instead of 536870912; user is/)
  })
})
