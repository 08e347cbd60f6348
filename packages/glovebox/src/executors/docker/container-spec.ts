import { wholePages } from "../sandbox/whole-pages.ts"
import { WORKSPACE } from "../sandbox/workspace-folder.ts"
import { posix } from "node:path"
import type { PolicyFields } from "../../policy/index.ts"
import { isGvisor } from "./choose-runtime.ts"
import { seccompProfile } from "../sandbox/seccomp-profile.ts"

const TMP_BYTES = 64 * 1024 ** 2
const TMP_FILES = 16_384
const SHM_BYTES = 64 * 1024 ** 2
// gVisor is made of tasks of the host, which the engine's limit counts; its own limit counts the guest's.
const GVISOR_TASKS = 64
const GVISOR_TASKS_PER_PROCESS = 8

/** A GPU or another device, in the words of the engine's API. */
export interface DeviceRequest {
  readonly driver?: string | undefined
  readonly count?: number | undefined
  readonly deviceIds?: readonly string[] | undefined
  readonly capabilities?: readonly (readonly string[])[] | undefined
  readonly options?: Readonly<Record<string, string>> | undefined
}

export interface ContainerSpecInput {
  readonly policy: PolicyFields
  /** The image's id: what was checked is what runs. */
  readonly imageId: string
  /** Places the image declares as volumes, which the engine would make writable and without bound. */
  readonly imageVolumes: readonly string[]
  readonly command: readonly string[]
  readonly architecture: string
  /** Undefined for the engine's own choice. */
  readonly runtime: string | undefined
  readonly isPodman: boolean
  readonly labels: Readonly<Record<string, string>>
  readonly extraHosts: Readonly<Record<string, string>>
  readonly deviceRequests: readonly DeviceRequest[]
  /** Whether the engine removes the container when it ends. */
  readonly autoRemove: boolean
  /** Whether the agent's input ends with this process's connection. */
  readonly endsWithConnection: boolean
  /** Variables beneath those of the policy. */
  readonly env: Readonly<Record<string, string>>
}

/** The body of the engine's "create container". */
export interface ContainerSpec {
  readonly Image: string
  readonly Entrypoint: readonly string[]
  readonly Cmd: readonly string[]
  readonly User: string
  readonly WorkingDir: string
  readonly Env: readonly string[]
  readonly Labels: Readonly<Record<string, string>>
  readonly NetworkDisabled: boolean
  readonly HostConfig: HostConfig
  readonly [field: string]: unknown
}

interface HostConfig {
  readonly NetworkMode: string
  readonly ReadonlyRootfs: boolean
  readonly CapDrop: readonly string[]
  readonly CapAdd: readonly string[]
  readonly SecurityOpt: readonly string[]
  readonly PidsLimit: number
  readonly Memory: number
  readonly MemorySwap: number
  readonly NanoCpus: number
  readonly ShmSize: number
  readonly Tmpfs: Readonly<Record<string, string>>
  readonly LogConfig: { readonly Type: string; readonly Config: Readonly<Record<string, string>> }
  readonly AutoRemove: boolean
  readonly Runtime?: string | undefined
  readonly [field: string]: unknown
}

/** The hardened container of a policy: every field that matters is written out, none is left to the engine's defaults. */
export function containerSpec(input: ContainerSpecInput): ContainerSpec {
  const { policy, command } = input
  const variables: Record<string, string> = { HOME: WORKSPACE, ...input.env, ...policy.env }
  // Both lead to modules: the policy's own must not hide the functions.
  const modules = [input.env["PYTHONPATH"], policy.env["PYTHONPATH"]].filter(Boolean).join(":")
  if (modules !== "") variables["PYTHONPATH"] = modules
  return {
    Image: input.imageId,
    Entrypoint: command.slice(0, 1),
    Cmd: command.slice(1),
    User: policy.user,
    // Not the workspace: with a folder mounted there, Python would look into it before the agent has begun.
    WorkingDir: "/",
    Hostname: "sandbox",
    Env: Object.entries(variables).map(([name, value]) => `${name}=${value}`),
    Labels: input.labels,
    OpenStdin: true,
    StdinOnce: input.endsWithConnection,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    Tty: false,
    // Its first process hears no other: an engine that stops or restarts would wait ten seconds for it.
    StopSignal: "SIGKILL",
    // The image's own would run programs of its choice beside the code.
    Healthcheck: { Test: ["NONE"] },
    // With the mode alone an older engine still wires up a network stack, for half of the start's time.
    NetworkDisabled: !hasInterface(policy),
    HostConfig: hostConfig(input),
  }
}

function hostConfig(input: ContainerSpecInput): HostConfig {
  const { policy, deviceRequests, extraHosts } = input
  const { limits } = policy
  return {
    NetworkMode: networkMode(policy),
    ReadonlyRootfs: policy.readOnlyRoot,
    CapDrop: ["ALL"],
    CapAdd: policy.capabilities,
    SecurityOpt: ["no-new-privileges", ...seccompOptions(input)],
    Privileged: false,
    IpcMode: "private",
    PidMode: "",
    UTSMode: "",
    CgroupnsMode: "private",
    PidsLimit: taskLimit(policy, input.runtime),
    Memory: wholePages(limits.memory),
    // The same as the memory: no swap.
    MemorySwap: wholePages(limits.memory),
    NanoCpus: Math.round(limits.cpus * 1e9),
    // When the host itself is short of memory, sandboxes go first.
    OomScoreAdj: 500,
    Ulimits: ulimits(input),
    ShmSize: Math.min(SHM_BYTES, limits.workspace),
    Tmpfs: tmpfs(input),
    // Mounts, not binds: a source that does not exist is an error, not a new folder.
    Mounts: policy.mounts.map(({ source, target, mode }) => ({
      Type: "bind",
      Source: source,
      Target: target,
      ReadOnly: mode === "ro",
      BindOptions: { Propagation: "rprivate" },
    })),
    // A log would grow on the engine's disk with every byte of output.
    LogConfig: { Type: "none", Config: {} },
    RestartPolicy: { Name: "", MaximumRetryCount: 0 },
    AutoRemove: input.autoRemove,
    ...(input.runtime === undefined ? {} : { Runtime: input.runtime }),
    ExtraHosts: Object.entries(extraHosts).map(([name, address]) => `${name}:${address}`),
    DeviceRequests: deviceRequests.map(
      ({ driver, count, deviceIds, capabilities = [["gpu"]], options = {} }) => ({
        Driver: driver ?? "",
        Count: count ?? (deviceIds === undefined ? -1 : 0),
        DeviceIDs: deviceIds ?? [],
        Capabilities: capabilities,
        Options: options,
      }),
    ),
  }
}

/** How many tasks of the host a sandbox may be made of. */
export function taskLimit({ limits }: PolicyFields, runtime: string | undefined): number {
  if (runtime === undefined || !isGvisor(runtime)) return limits.pids
  return GVISOR_TASKS + GVISOR_TASKS_PER_PROCESS * limits.pids
}

function hasOwnKernel({ runtime }: ContainerSpecInput): boolean {
  return runtime !== undefined && isGvisor(runtime)
}

function ulimits(input: ContainerSpecInput): { Name: string; Soft: number; Hard: number }[] {
  const limits = [
    { Name: "core", Soft: 0, Hard: 0 },
    { Name: "nofile", Soft: 1024, Hard: 4096 },
  ]
  // With the host's kernel this would count the processes of every sandbox together.
  if (hasOwnKernel(input)) {
    const { pids } = input.policy.limits
    limits.push({ Name: "nproc", Soft: pids, Hard: pids })
  }
  // Left out, Podman sets one that only a privileged service can give.
  if (input.isPodman) limits.push({ Name: "nproc", Soft: 32_768, Hard: 32_768 })
  return limits
}

/** Whether the container has an interface beside its own loopback: not for an allow-list, which the agent carries. */
export function hasInterface({ network }: Pick<PolicyFields, "network">): boolean {
  return typeof network === "object" && "dangerously" in network
}

function networkMode({ network }: PolicyFields): string {
  return typeof network === "object" && "dangerously" in network ? network.dangerously : "none"
}

/** How the engine is told of the policy's seccomp profile. */
export function seccompOptions({
  policy,
  architecture,
  isPodman,
}: Pick<ContainerSpecInput, "policy" | "architecture" | "isPodman">): string[] {
  if (policy.seccomp === "strict") {
    // Podman takes a profile only by the path of a file; its own applies, and on other processors the engine's.
    const profile = isPodman ? undefined : seccompProfile(architecture)
    return profile === undefined ? [] : [`seccomp=${JSON.stringify(profile)}`]
  }
  if ("dangerously" in policy.seccomp) return [`seccomp=${policy.seccomp.dangerously}`]
  return [`seccomp=${JSON.stringify(policy.seccomp.profile)}`]
}

function tmpfs({ policy, imageVolumes, isPodman }: ContainerSpecInput): Record<string, string> {
  const { limits, mounts } = policy
  const [uid, gid] = policy.user.split(":")
  // Podman knows no owner and no number of files, but gives the place to the container's user.
  const place = (bytes: number, files: number): string =>
    isPodman
      ? `rw,exec,nosuid,nodev,size=${bytes},mode=0700,U`
      : `rw,exec,nosuid,nodev,size=${bytes},nr_inodes=${files},uid=${uid},gid=${gid},mode=0700`
  const places: Record<string, string> = {}
  const cover = `rw,noexec,nosuid,nodev,size=64k,mode=0755${isPodman ? "" : ",nr_inodes=16"}`
  for (const path of imageVolumes) places[plain(path)] = cover
  places["/tmp"] = place(Math.min(TMP_BYTES, limits.workspace), Math.min(limits.files, TMP_FILES))
  places[WORKSPACE] = place(limits.workspace, limits.files)
  for (const { target } of mounts) delete places[target]
  return places
}

// One place can be written in many ways.
function plain(path: string): string {
  return posix.resolve("/", path)
}
