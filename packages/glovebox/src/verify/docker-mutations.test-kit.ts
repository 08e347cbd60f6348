import type { ContainerSpec } from "../executors/docker/container-spec.ts"
import type { PolicyInput } from "../policy/index.ts"
import type { Weakening } from "../probes/index.ts"

/** What is taken away from a container, and the probe that has to notice. */
export interface Mutation {
  /** The settings, as `settingsOf` names them, that differ then: all of them, and no other. */
  readonly settings: readonly string[]
  readonly by: readonly Weakening[]
  readonly probe: string
  /** Why more than one setting has to go, or one in the place of another. */
  readonly note?: string
  /** What of the policy the setting is for. */
  readonly needs?: "mount" | "own image" | "own kernel"
}

const alone = (setting: string, by: Weakening, probe: string): Mutation => ({
  settings: [setting],
  by: [by],
  probe,
})

/** One for each setting of our containers. */
export const MUTATIONS: readonly Mutation[] = [
  alone("User", "root-user", "kernel.root"),
  alone("HostConfig.GroupAdd", "extra-group", "kernel.groups"),
  alone("HostConfig.CapDrop", "capabilities-kept", "kernel.capabilities"),
  alone("HostConfig.CapAdd", "capability-added", "kernel.capabilities"),
  alone("HostConfig.SecurityOpt.no-new-privileges", "new-privileges", "kernel.new-privileges"),
  alone("HostConfig.SecurityOpt.seccomp", "engine-seccomp", "kernel.trace"),
  {
    settings: ["HostConfig.SecurityOpt.seccomp", "HostConfig.SecurityOpt.apparmor"],
    by: ["seccomp-unconfined"],
    probe: "kernel.seccomp",
    note: "an engine with AppArmor would hold some of it by its own profile",
  },
  alone("HostConfig.Privileged", "privileged", "fs.devices"),
  alone("HostConfig.ReadonlyRootfs", "writable-root", "fs.write-root"),
  {
    settings: ["NetworkDisabled", "HostConfig.NetworkMode", "HostConfig.Dns"],
    by: ["network-bridge"],
    probe: "net.host",
    note: "either of the two alone keeps the network away; the resolver is the host itself, so that no question leaves it",
  },
  {
    settings: ["NetworkDisabled", "HostConfig.NetworkMode"],
    by: ["network-host"],
    probe: "sockets.abstract",
    note: "either of the two alone keeps the network away",
  },
  alone("HostConfig.PidsLimit", "no-pids-limit", "res.processes"),
  {
    settings: ["HostConfig.Memory", "HostConfig.MemorySwap"],
    by: ["no-memory-limit"],
    probe: "res.memory",
    note: "the engine takes no limit of both together without one of memory",
  },
  alone("HostConfig.MemorySwap", "swap", "res.swap"),
  alone("HostConfig.NanoCpus", "no-cpu-limit", "res.processors"),
  alone("HostConfig.OomScoreAdj", "no-oom-score", "res.shortage"),
  alone("HostConfig.Ulimits.core", "core-files", "res.core-file"),
  alone("HostConfig.Ulimits.nofile", "open-files", "res.open-files"),
  alone("HostConfig.ShmSize", "shm-unbounded", "res.shared-memory"),
  alone("HostConfig.Tmpfs./workspace.size", "workspace-unbounded", "res.workspace"),
  alone("HostConfig.Tmpfs./workspace.nr_inodes", "inodes-unbounded", "res.workspace-files"),
  alone("HostConfig.Tmpfs./workspace.nosuid", "workspace-suid", "fs.setuid-places"),
  alone("HostConfig.Tmpfs./workspace.nodev", "workspace-dev", "fs.device-places"),
  alone("HostConfig.Tmpfs./tmp.size", "tmp-unbounded", "res.tmp"),
  alone("HostConfig.Tmpfs./tmp.nr_inodes", "tmp-inodes-unbounded", "res.tmp-files"),
  alone("HostConfig.Tmpfs./tmp.nosuid", "tmp-suid", "fs.setuid-places"),
  alone("HostConfig.Tmpfs./tmp.nodev", "tmp-dev", "fs.device-places"),
  {
    settings: ["HostConfig.Tmpfs./data"],
    by: ["image-volume"],
    probe: "fs.image-volumes",
    needs: "own image",
  },
  { ...alone("HostConfig.Mounts./in.ReadOnly", "mounts-writable", "fs.mount-write:/in"), needs: "mount" },
  { ...alone("HostConfig.Mounts./in.BindOptions", "shared-mounts", "fs.shared-mounts"), needs: "mount" },
  alone("HostConfig.Mounts.<folder>", "host-mount", "fs.host-file"),
  alone("HostConfig.Mounts./run/docker.sock", "docker-socket", "sockets.files"),
  alone("HostConfig.Mounts./run/secrets", "secret-mount", "secrets.files"),
  alone("Env", "host-env", "secrets.environment"),
  alone("Hostname", "plain-host-name", "secrets.container-id"),
  {
    settings: ["Hostname", "HostConfig.UTSMode"],
    by: ["host-uts"],
    probe: "secrets.host-name",
    note: "the engine takes no name with the host's namespace",
  },
  {
    settings: ["User", "HostConfig.PidMode"],
    by: ["host-pid"],
    probe: "kernel.host-processes",
    note: "the user is one that no process of the host has, as the agent ends all of its user's",
  },
  alone("HostConfig.IpcMode", "host-ipc", "sockets.shared-memory"),
  alone("HostConfig.CgroupnsMode", "host-cgroupns", "kernel.cgroup-names"),
  alone("HostConfig.LogConfig", "log-driver", "res.log"),
  {
    settings: ["Entrypoint", "Cmd"],
    by: ["image-entrypoint"],
    probe: "kernel.foreign-programs",
    note: "the engine puts the image's entry point before the same command",
    needs: "own image",
  },
  { ...alone("Healthcheck", "image-health-check", "kernel.foreign-programs"), needs: "own image" },
  alone("StdinOnce", "stdin-stays", "life.owner-gone"),
  alone("HostConfig.AutoRemove", "container-stays", "life.owner-gone"),
  {
    settings: ["HostConfig.AutoRemove", "HostConfig.RestartPolicy"],
    by: ["container-stays", "restarts"],
    probe: "life.restarted",
    note: "the engine refuses to start again what it is to remove",
  },
  { ...alone("HostConfig.Runtime", "engine-runtime", "kernel.own-kernel"), needs: "own kernel" },
  {
    settings: ["HostConfig.ExtraHosts", "NetworkDisabled", "HostConfig.NetworkMode", "HostConfig.Dns"],
    by: ["network-bridge", "extra-host"],
    probe: "net.host-names",
    note: "without a network the engine writes no names, and with one alone none of another machine",
  },
  {
    settings: ["HostConfig.Devices"],
    by: ["host-device"],
    probe: "fs.devices",
    note: "in the place of DeviceRequests: an engine without such hardware refuses them, and a device is what they end in",
  },
]

/** Settings that keep nothing from the code, and what they are for. */
export const NO_WALLS: Readonly<Record<string, string>> = {
  Image: "what runs; the report has its digest",
  Labels: "the owner's, by which a sweep finds what a dead process left",
  WorkingDir: "the agent's own, which leaves it at once; Python is isolated, and looks into no folder",
  OpenStdin: "the agent's stream; without it nothing runs",
  AttachStdin: "the agent's stream; it is attached to by a request of its own",
  AttachStdout: "the same",
  AttachStderr: "the same",
  Tty: "a terminal would change the agent's bytes, so nothing would run",
  StopSignal: "how an engine that stops ends it; Glovebox itself removes it by force",
  "HostConfig.DeviceRequests": "empty unless asked for; see HostConfig.Devices",
  "HostConfig.Tmpfs./workspace.rw": "a permission",
  "HostConfig.Tmpfs./workspace.exec": "a permission: programs may be run from the workspace",
  "HostConfig.Tmpfs./workspace.uid": "a permission: the user owns its workspace",
  "HostConfig.Tmpfs./workspace.gid": "the same",
  "HostConfig.Tmpfs./workspace.mode": "there is no other user in the container",
  "HostConfig.Tmpfs./tmp.rw": "a permission",
  "HostConfig.Tmpfs./tmp.exec": "a permission",
  "HostConfig.Tmpfs./tmp.uid": "a permission",
  "HostConfig.Tmpfs./tmp.gid": "the same",
  "HostConfig.Tmpfs./tmp.mode": "there is no other user in the container",
  "HostConfig.Mounts./in.Type": "what the policy asks for",
  "HostConfig.Mounts./in.Source": "what the policy asks for",
}

/** Small, so that a bomb is soon over. */
export const SMALL_LIMITS: PolicyInput["limits"] = {
  memory: "64MiB",
  workspace: "8MiB",
  files: 400,
  pids: 48,
}

/** The settings of a container, each by a name of its own: lists of settings are taken apart. */
export function settingsOf(spec: ContainerSpec): ReadonlyMap<string, string> {
  const found = new Map<string, unknown>()
  const { HostConfig, ...rest } = spec
  for (const [name, value] of Object.entries(rest)) found.set(name, value)
  for (const [name, value] of Object.entries(HostConfig)) {
    const parts = takeApart(name, value)
    for (const [part, setting] of parts ?? [["", value] as const]) {
      found.set(part === "" ? `HostConfig.${name}` : `HostConfig.${name}.${part}`, setting)
    }
  }
  return new Map(
    [...found]
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, JSON.stringify(value)]),
  )
}

/** Which settings differ, those left out that are no walls. */
export function changedSettings(before: ContainerSpec, after: ContainerSpec): string[] {
  const [one, other] = [settingsOf(before), settingsOf(after)]
  const names = [...new Set([...one.keys(), ...other.keys()])]
  return names
    .filter((name) => one.get(name) !== other.get(name) && !Object.hasOwn(NO_WALLS, name))
    .toSorted()
}

type Parts = readonly (readonly [name: string, value: unknown])[]

function takeApart(name: string, value: unknown): Parts | undefined {
  switch (name) {
    case "SecurityOpt":
      return (value as readonly string[]).map((option) => [/^[^=:]+/.exec(option)?.[0] ?? option, option])
    case "Ulimits":
      return (value as readonly { readonly Name: string }[]).map((limit) => [limit.Name, limit])
    case "Tmpfs":
      return Object.entries(value as Record<string, string>).flatMap(([place, options]) =>
        place === "/data" ? [[place, options]] : placeOptions(place, options),
      )
    case "Mounts":
      return (value as readonly Mount[]).flatMap(mountParts)
    default:
      return undefined
  }
}

function placeOptions(place: string, options: string): Parts {
  // An option and its opposite are one setting.
  const nameOf = (option: string): string => (option.split("=")[0] ?? "").replace(/^(suid|dev)$/, "no$1")
  return options.split(",").map((option) => [`${place}.${nameOf(option)}`, option])
}

interface Mount {
  readonly Target: string
  readonly [field: string]: unknown
}

function mountParts({ Target, ...mount }: Mount): Parts {
  // One that nobody asked for is a setting by itself.
  if (Target !== "/in") return [[Target, mount]]
  return Object.entries(mount).map(([field, value]) => [`${Target}.${field}`, value])
}
