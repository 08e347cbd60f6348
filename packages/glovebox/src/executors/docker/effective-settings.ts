import type Docker from "dockerode"
import { GloveboxError } from "../../core/index.ts"
import { canonicalJson } from "../../internal/canonical-json.ts"
import type { PolicyFields } from "../../policy/index.ts"
import type { Facts } from "../sandbox/agent-answers.ts"
import { wholePages } from "../sandbox/whole-pages.ts"
import { isGvisor } from "./choose-runtime.ts"
import { type ContainerSpec, seccompOptions, taskLimit } from "./container-spec.ts"
import {
  type SettingDifference,
  indirectLimits,
  kernelDifferences,
  withoutPrefix,
} from "./kernel-settings.ts"

/** The wall as it stands: what the engine says of the container, and the kernel of its first process. */
export interface EffectiveSettings {
  readonly image: string
  readonly runtime: string
  readonly settings: Readonly<Record<string, unknown>>
}

export interface EngineKind {
  readonly isPodman?: boolean | undefined
  /** @default any that has a seccomp profile of ours */
  readonly architecture?: string | undefined
  /** Whether it was altered on purpose, so that a difference is no surprise. @default false */
  readonly isAltered?: boolean | undefined
}

/** Reads the effective settings, and refuses a container in which one differs from what was asked. */
export function effectiveSettings(
  policy: PolicyFields,
  spec: ContainerSpec,
  inspected: Docker.ContainerInspectInfo,
  facts: Facts | undefined,
  { isPodman = false, architecture, isAltered = false }: EngineKind = {},
): EffectiveSettings {
  const engine = readEngine(inspected)
  const kernel = facts && readKernel(facts)
  const differences = [
    ...compare(engine, askedOfEngine(policy, spec)),
    // Podman says much of this in words of its own; there the kernel's word must do.
    ...(isPodman ? [] : compareVerbatim(policy, spec, inspected, architecture)),
    ...compareMounts(spec, inspected),
    ...(facts ? kernelDifferences(policy, spec, facts, engine.runtime, isPodman) : []),
  ]
  if (differences.length > 0 && !isAltered) {
    const list = differences
      .map(({ setting, asked, effective }) => `${setting} is ${brief(effective)} instead of ${brief(asked)}`)
      .join("; ")
    throw new GloveboxError(
      "SANDBOX_UNENFORCEABLE",
      `The engine made a container that differs from the policy, so nothing runs in it: ${list}.`,
    )
  }
  // Under gVisor the engine counts tasks of the host, and gVisor the processes.
  const processes = isGvisor(engine.runtime) ? { pids: policy.limits.pids, hostTasks: engine["pids"] } : {}
  const indirect = indirectLimits(engine.runtime, isPodman)
  return {
    image: engine.image,
    runtime: engine.runtime,
    settings: { ...engine, ...processes, ...kernel, indirect },
  }
}

function readEngine({ Image, Config, HostConfig }: Docker.ContainerInspectInfo): Record<string, unknown> & {
  readonly image: string
  readonly runtime: string
} {
  const options: readonly string[] = HostConfig.SecurityOpt ?? []
  const added: readonly string[] = HostConfig.CapAdd ?? []
  return {
    image: Image.startsWith("sha256:") ? Image : `sha256:${Image}`,
    runtime: HostConfig.Runtime ?? "",
    user: Config.User,
    network: HostConfig.NetworkMode ?? "",
    readOnlyRoot: HostConfig.ReadonlyRootfs ?? false,
    privileged: HostConfig.Privileged ?? false,
    capabilities: added.map(withoutPrefix).toSorted(),
    noNewPrivileges: options.some((option) => /^no-new-privileges(:true)?$/.test(option)),
    unconfined: options.filter((option) => /unconfined|=disable/.test(option)),
    memory: HostConfig.Memory ?? 0,
    memoryAndSwap: HostConfig.MemorySwap ?? 0,
    cpus: (HostConfig.NanoCpus ?? 0) / 1e9,
    pids: HostConfig.PidsLimit ?? 0,
    devices: (HostConfig.Devices ?? []).length,
    hostPid: HostConfig.PidMode === "host",
    hostIpc: HostConfig.IpcMode === "host",
    log: HostConfig.LogConfig?.Type ?? "",
  }
}

// By the policy where it has a word for it, so that a mistake in what was asked of the engine shows too.
function askedOfEngine(policy: PolicyFields, spec: ContainerSpec): Record<string, unknown> {
  const { HostConfig: asked } = spec
  const { limits } = policy
  return {
    image: spec.Image,
    ...(asked.Runtime === undefined ? {} : { runtime: asked.Runtime }),
    user: policy.user,
    network: asked.NetworkMode,
    readOnlyRoot: policy.readOnlyRoot,
    privileged: false,
    capabilities: policy.capabilities.map(withoutPrefix).toSorted(),
    noNewPrivileges: true,
    unconfined: isUnconfined(policy) ? ["seccomp=unconfined"] : [],
    memory: wholePages(limits.memory),
    memoryAndSwap: wholePages(limits.memory),
    cpus: Math.round(limits.cpus * 1e9) / 1e9,
    pids: taskLimit(policy, asked.Runtime),
    devices: 0,
    hostPid: false,
    hostIpc: false,
  }
}

function isUnconfined({ seccomp }: PolicyFields): boolean {
  return seccomp !== "strict" && "dangerously" in seccomp
}

function compare(effective: Record<string, unknown>, asked: Record<string, unknown>): SettingDifference[] {
  return Object.keys(asked)
    .filter((setting) => show(effective[setting]) !== show(asked[setting]))
    .map((setting) => ({ setting, asked: asked[setting], effective: effective[setting] }))
}

const VERBATIM = ["CapDrop", "Tmpfs", "LogConfig", "PidMode", "IpcMode", "CgroupnsMode"]

// Settings that the engine gives back as it was given them, and some that nobody asked for.
function compareVerbatim(
  policy: PolicyFields,
  { HostConfig }: ContainerSpec,
  { HostConfig: effective }: Docker.ContainerInspectInfo,
  architecture: string | undefined,
): SettingDifference[] {
  const found: Readonly<Record<string, unknown>> = { ...effective }
  const asked = Object.fromEntries(VERBATIM.map((name) => [name, HostConfig[name]]))
  const others = {
    UsernsMode: found["UsernsMode"] ?? "",
    GroupAdd: found["GroupAdd"] ?? [],
    seccomp: seccompOf(effective.SecurityOpt ?? []),
  }
  const wanted = { UsernsMode: "", GroupAdd: [], seccomp: seccompOf(HostConfig.SecurityOpt) }
  return [
    ...compare(found, asked),
    ...compare(others, wanted),
    ...(isOurs(policy, wanted.seccomp, architecture)
      ? []
      : [{ setting: "seccomp", asked: policy.seccomp, effective: wanted.seccomp }]),
  ]
}

// On processors for which there is no profile of ours the engine's own applies.
function isOurs(policy: PolicyFields, option: string | undefined, architecture: string | undefined): boolean {
  const architectures = architecture === undefined ? ["x86_64", "aarch64"] : [architecture]
  return architectures.some(
    (name) => seccompOptions({ policy, architecture: name, isPodman: false })[0] === option,
  )
}

function seccompOf(options: readonly string[]): string | undefined {
  return options.find((option) => option.startsWith("seccomp="))
}

// Nothing may be mounted that was not asked for: an image can declare volumes of its own.
function compareMounts(
  { HostConfig }: ContainerSpec,
  { Mounts }: Docker.ContainerInspectInfo,
): SettingDifference[] {
  const asked = new Map(
    ((HostConfig["Mounts"] ?? []) as { Target: string; ReadOnly: boolean }[]).map(({ Target, ReadOnly }) => [
      Target,
      ReadOnly,
    ]),
  )
  const tmpfs = Object.keys(HostConfig.Tmpfs)
  const found = (Mounts ?? []).filter(({ Type, Destination }) => {
    return !(Type === "tmpfs" && tmpfs.includes(Destination))
  })
  const foreign = found.filter(({ Destination, RW }) => asked.get(Destination) !== !RW)
  return foreign.map(({ Destination, RW }) => ({
    setting: `mount of ${Destination}`,
    asked: asked.has(Destination) ? "read-only" : "absent",
    effective: RW ? "writable" : "read-only",
  }))
}

function readKernel({ status, interfaces, root, workspace, cgroup }: Facts): Record<string, unknown> {
  return { kernel: { ...status, interfaces, readOnlyRoot: root.readOnly, workspace, cgroup } }
}

// In one order of keys.
function show(value: unknown): string {
  return value === undefined ? "absent" : canonicalJson(value)
}

function brief(value: unknown): string {
  const text = show(value)
  return text.length > 200 ? `${text.slice(0, 200)}...` : text
}
