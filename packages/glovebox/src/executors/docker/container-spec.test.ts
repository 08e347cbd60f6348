import { describe, expect, it } from "vitest"
import { type PolicyInput, SandboxPolicy } from "../../policy/index.ts"
import { type ContainerSpec, type ContainerSpecInput, containerSpec } from "./container-spec.ts"
import { seccompProfile } from "../sandbox/seccomp-profile.ts"

const MiB = 1024 ** 2

function spec(policy: PolicyInput = {}, more: Partial<ContainerSpecInput> = {}): ContainerSpec {
  return containerSpec({
    policy: new SandboxPolicy(policy).fields,
    imageId: "sha256:image",
    imageVolumes: [],
    command: ["python3", "-c", "source", "{}"],
    architecture: "x86_64",
    runtime: "runc",
    isPodman: false,
    labels: { "org.glovebox.owner": "me" },
    extraHosts: {},
    deviceRequests: [],
    autoRemove: true,
    endsWithConnection: true,
    env: {},
    ...more,
  })
}

describe("containerSpec, for deny-all", () => {
  it("is exactly this, with nothing left to the engine's defaults", () => {
    const { HostConfig, ...container } = spec()
    expect(container).toEqual({
      Image: "sha256:image",
      Entrypoint: ["python3"],
      Cmd: ["-c", "source", "{}"],
      User: "65532:65532",
      WorkingDir: "/",
      Hostname: "sandbox",
      Env: ["HOME=/workspace"],
      Labels: { "org.glovebox.owner": "me" },
      OpenStdin: true,
      StdinOnce: true,
      AttachStdin: true,
      AttachStdout: true,
      AttachStderr: true,
      Tty: false,
      StopSignal: "SIGKILL",
      Healthcheck: { Test: ["NONE"] },
      NetworkDisabled: true,
    })
    expect(HostConfig).toEqual({
      NetworkMode: "none",
      ReadonlyRootfs: true,
      CapDrop: ["ALL"],
      CapAdd: [],
      SecurityOpt: ["no-new-privileges", `seccomp=${JSON.stringify(seccompProfile("x86_64"))}`],
      Privileged: false,
      IpcMode: "private",
      PidMode: "",
      UTSMode: "",
      CgroupnsMode: "private",
      PidsLimit: 128,
      Memory: 512 * MiB,
      MemorySwap: 512 * MiB,
      NanoCpus: 1_000_000_000,
      OomScoreAdj: 500,
      Ulimits: [
        { Name: "core", Soft: 0, Hard: 0 },
        { Name: "nofile", Soft: 1024, Hard: 4096 },
      ],
      ShmSize: 64 * MiB,
      Tmpfs: {
        "/tmp": `rw,exec,nosuid,nodev,size=${64 * MiB},nr_inodes=16384,uid=65532,gid=65532,mode=0700`,
        "/workspace": `rw,exec,nosuid,nodev,size=${256 * MiB},nr_inodes=65536,uid=65532,gid=65532,mode=0700`,
      },
      Mounts: [],
      LogConfig: { Type: "none", Config: {} },
      RestartPolicy: { Name: "", MaximumRetryCount: 0 },
      AutoRemove: true,
      Runtime: "runc",
      ExtraHosts: [],
      DeviceRequests: [],
    })
  })

  it("has nothing that would widen it under another name", () => {
    const { HostConfig } = spec()
    const wider =
      "Binds VolumesFrom Devices DeviceCgroupRules GroupAdd UsernsMode Sysctls Links PublishAllPorts PortBindings OomKillDisable CgroupParent VolumeDriver"
    for (const name of wider.split(" ")) expect(HostConfig).not.toHaveProperty(name)
  })
})

describe("containerSpec, widened by the policy", () => {
  it("follows each field, and leaves the others as they are", () => {
    const plain = spec()
    const widened = (policy: PolicyInput): Record<string, unknown> => {
      const changed = { ...spec(policy), ...spec(policy).HostConfig, HostConfig: undefined }
      const before: Record<string, unknown> = { ...plain, ...plain.HostConfig, HostConfig: undefined }
      return Object.fromEntries(
        Object.entries(changed).filter(
          ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name]),
        ),
      )
    }
    expect(widened({ network: { dangerously: "bridge" } })).toEqual({
      NetworkDisabled: false,
      NetworkMode: "bridge",
    })
    expect(widened({ network: { dangerously: "host" } })).toEqual({
      NetworkDisabled: false,
      NetworkMode: "host",
    })
    expect(widened({ readOnlyRoot: false })).toEqual({ ReadonlyRootfs: false })
    expect(widened({ capabilities: ["NET_RAW", "CHOWN"] })).toEqual({ CapAdd: ["CHOWN", "NET_RAW"] })
    expect(widened({ seccomp: { dangerously: "unconfined" } })).toEqual({
      SecurityOpt: ["no-new-privileges", "seccomp=unconfined"],
    })
    expect(widened({ seccomp: { profile: { defaultAction: "SCMP_ACT_ALLOW" } } })).toEqual({
      SecurityOpt: ["no-new-privileges", 'seccomp={"defaultAction":"SCMP_ACT_ALLOW"}'],
    })
    expect(widened({ limits: { memory: 100_000_001 } })).toEqual({
      Memory: 99_942_400,
      MemorySwap: 99_942_400,
    })
    expect(widened({ limits: { memory: "1GiB" } })).toEqual({ Memory: 1024 * MiB, MemorySwap: 1024 * MiB })
    expect(widened({ limits: { cpus: 1.5 } })).toEqual({ NanoCpus: 1_500_000_000 })
    expect(widened({ limits: { pids: 7 } })).toEqual({ PidsLimit: 7 })
    expect(widened({ env: { A: "1=2", HOME: "/tmp" } })).toEqual({ Env: ["HOME=/tmp", "A=1=2"] })
    expect(widened({ image: "other:1", limits: { wall: "1h", output: "2MiB" } })).toEqual({})
  })

  it("gives no interface for an allow-list, whose connections the agent carries", () => {
    expect(spec({ network: { allow: ["example.com:443"] } })).toEqual(spec())
  })

  it("gives the writable places to the user, within the limits", () => {
    const { Tmpfs, ShmSize } = spec({ user: "0:7", limits: { workspace: "8MiB", files: 100 } }).HostConfig
    expect(Tmpfs).toEqual({
      "/tmp": `rw,exec,nosuid,nodev,size=${8 * MiB},nr_inodes=100,uid=0,gid=7,mode=0700`,
      "/workspace": `rw,exec,nosuid,nodev,size=${8 * MiB},nr_inodes=100,uid=0,gid=7,mode=0700`,
    })
    expect(ShmSize).toBe(8 * MiB)
  })

  it("rounds what the engine takes only as a whole number", () => {
    expect(spec({ limits: { cpus: 0.1 + 0.2 } }).HostConfig.NanoCpus).toBe(300_000_000)
  })

  it("leaves the engine's own seccomp profile where none is written for the processor", () => {
    expect(spec({}, { architecture: "riscv64" }).HostConfig.SecurityOpt).toEqual(["no-new-privileges"])
  })
})

describe("containerSpec, mounts and volumes", () => {
  it("mounts read-only unless it is asked to do otherwise, and makes no folder for a missing source", () => {
    const { HostConfig } = spec({
      mounts: [
        { source: "/data", target: "/in" },
        { source: "/out", target: "/out", mode: "rw" },
      ],
    })
    const bind = { Type: "bind", BindOptions: { Propagation: "rprivate" } }
    expect(HostConfig["Mounts"]).toEqual([
      { ...bind, Source: "/data", Target: "/in", ReadOnly: true },
      { ...bind, Source: "/out", Target: "/out", ReadOnly: false },
    ])
    expect(HostConfig).not.toHaveProperty("Binds")
  })

  it("covers the image's volumes with almost nothing, and never the workspace with that", () => {
    const { Tmpfs } = spec({}, { imageVolumes: ["/data", "/workspace", "/tmp"] }).HostConfig
    expect(Object.keys(Tmpfs).toSorted()).toEqual(["/data", "/tmp", "/workspace"])
    expect(Tmpfs["/data"]).toBe("rw,noexec,nosuid,nodev,size=64k,mode=0755,nr_inodes=16")
    expect(Tmpfs["/workspace"]).toContain(`size=${256 * MiB}`)
  })

  it("knows a place however it is written", () => {
    const { Tmpfs } = spec({}, { imageVolumes: ["/workspace/", "//tmp", "/data/./x/"] }).HostConfig
    expect(Object.keys(Tmpfs).toSorted()).toEqual(["/data/x", "/tmp", "/workspace"])
    const mounted = spec({ mounts: [{ source: "/d", target: "/data/" }] }, { imageVolumes: ["/data"] })
    expect(Object.keys(mounted.HostConfig.Tmpfs)).not.toContain("/data")
  })

  it("puts a mount in the place of what would cover it", () => {
    const mounts = [
      { source: "/a", target: "/workspace", mode: "rw" as const },
      { source: "/b", target: "/data" },
    ]
    const { Tmpfs } = spec({ mounts }, { imageVolumes: ["/data"] }).HostConfig
    expect(Object.keys(Tmpfs)).toEqual(["/tmp"])
  })
})

describe("containerSpec, where limits are kept in another way", () => {
  it("counts the guest's processes by gVisor's own limit, and the host's tasks by a wider one", () => {
    const { PidsLimit, Ulimits } = spec({ limits: { pids: 10 } }, { runtime: "runsc" }).HostConfig
    expect(PidsLimit).toBeGreaterThan(10)
    expect(Ulimits).toContainEqual({ Name: "nproc", Soft: 10, Hard: 10 })
    expect(spec().HostConfig["Ulimits"]).not.toContainEqual(expect.objectContaining({ Name: "nproc" }))
  })

  it("writes for Podman what Podman takes, and leaves it its own runtime", () => {
    const { HostConfig } = spec({}, { isPodman: true, runtime: undefined })
    expect(HostConfig).not.toHaveProperty("Runtime")
    expect(HostConfig.SecurityOpt).toEqual(["no-new-privileges"])
    expect(HostConfig.Tmpfs["/workspace"]).toBe(`rw,exec,nosuid,nodev,size=${256 * MiB},mode=0700,U`)
  })
})

describe("containerSpec, what the executor adds", () => {
  it("keeps a container, or lets it outlive the connection, only when asked", () => {
    expect(spec({}, { autoRemove: false }).HostConfig.AutoRemove).toBe(false)
    expect(spec({}, { endsWithConnection: false })["StdinOnce"]).toBe(false)
  })

  it("passes hosts and devices on in the engine's words", () => {
    const { HostConfig } = spec(
      { network: { dangerously: "bridge" } },
      {
        extraHosts: { "db.local": "10.0.0.2" },
        deviceRequests: [{ driver: "nvidia" }, { deviceIds: ["0"], capabilities: [["gpu", "utility"]] }],
        env: { A: "beneath", B: "kept" },
      },
    )
    expect(HostConfig["ExtraHosts"]).toEqual(["db.local:10.0.0.2"])
    expect(HostConfig["DeviceRequests"]).toEqual([
      { Driver: "nvidia", Count: -1, DeviceIDs: [], Capabilities: [["gpu"]], Options: {} },
      { Driver: "", Count: 0, DeviceIDs: ["0"], Capabilities: [["gpu", "utility"]], Options: {} },
    ])
  })

  it("lets the policy's variables win over the executor's", () => {
    const { Env } = spec({ env: { A: "policy" } }, { env: { A: "executor", B: "2" } })
    expect(Env).toEqual(["HOME=/workspace", "A=policy", "B=2"])
  })
})
