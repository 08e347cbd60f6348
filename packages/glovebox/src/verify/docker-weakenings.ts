import { GloveboxError } from "../core/index.ts"
import type { ContainerSpec } from "../executors/docker/container-spec.ts"
import type { PolicyInput } from "../policy/index.ts"
import { WORKSPACE } from "../policy/workspace-folder.ts"
import type { Weakening } from "../probes/index.ts"

/** What a weakened container is given of the host, all of it made for that. */
export interface WeakeningMeans {
  /** A folder with a file "secret" that holds the token. */
  readonly folder: string
  readonly token: string
  /** The address of the host on the engine's bridge. */
  readonly gateway: string | undefined
  /** The path of the engine's socket on its own host. */
  readonly engineSocket: string
}

interface DockerWeakening {
  readonly policy?: (policy: PolicyInput) => PolicyInput
  readonly spec?: (spec: ContainerSpec, means: WeakeningMeans) => ContainerSpec
}

// Without those that old engines do not know or that an engine in a container may not have itself.
const CAPABILITIES =
  "CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL MKNOD NET_ADMIN NET_BIND_SERVICE NET_RAW SETGID SETUID SYS_ADMIN SYS_BOOT SYS_CHROOT SYS_MODULE SYS_NICE SYS_PACCT SYS_PTRACE SYS_RAWIO SYS_TIME SYSLOG".split(
    " ",
  )
const FIRST_UNUSED_USER = 60_100
const UNUSED_USERS = 4_000

const host =
  (changes: Readonly<Record<string, unknown>>): DockerWeakening["spec"] =>
  (spec) =>
    withHost(spec, changes)

/** How each is done to a container: one setting, and no other. */
const DOCKER_WEAKENINGS: Readonly<Record<Weakening, DockerWeakening>> = {
  // The places that the user owns go by the policy too.
  "root-user": { policy: (policy) => ({ ...policy, user: "0:0" }) },
  "extra-group": { spec: host({ GroupAdd: ["4242"] }) },
  "capabilities-kept": { spec: host({ CapDrop: [] }) },
  "capability-added": { spec: host({ CapAdd: ["CHOWN"] }) },
  privileged: { spec: host({ Privileged: true }) },
  "all-capabilities": { spec: host({ CapDrop: [], CapAdd: CAPABILITIES }) },
  "new-privileges": { spec: withoutSecurity(/^no-new-privileges/) },
  "seccomp-unconfined": { spec: withoutSecurity(/^seccomp=/, "seccomp=unconfined", "apparmor=unconfined") },
  "engine-seccomp": { spec: withoutSecurity(/^seccomp=/) },
  "engine-runtime": { spec: host({ Runtime: "runc" }) },
  "writable-root": { spec: host({ ReadonlyRootfs: false }) },
  "tmpfs-suid": { spec: withPlaces([WORKSPACE, "/tmp"], /^nosuid$/, "suid") },
  "tmpfs-dev": { spec: withPlaces([WORKSPACE, "/tmp"], /^nodev$/, "dev") },
  "workspace-suid": { spec: withPlaces([WORKSPACE], /^nosuid$/, "suid") },
  "workspace-dev": { spec: withPlaces([WORKSPACE], /^nodev$/, "dev") },
  "tmp-suid": { spec: withPlaces(["/tmp"], /^nosuid$/, "suid") },
  "tmp-dev": { spec: withPlaces(["/tmp"], /^nodev$/, "dev") },
  "image-volume": { spec: (spec) => withHost(spec, { Tmpfs: uncovered(spec.HostConfig.Tmpfs) }) },
  "shared-mounts": { spec: (spec) => withHost(spec, { Mounts: mountsOf(spec).map(shared) }) },
  "mounts-writable": { spec: (spec) => withHost(spec, { Mounts: mountsOf(spec).map(writable) }) },
  "unmasked-paths": { spec: host({ MaskedPaths: [], ReadonlyPaths: [] }) },
  "host-mount": { spec: (spec, { folder }) => withMount(spec, folder, folder) },
  "secret-mount": { spec: (spec, { folder }) => withMount(spec, folder, "/run/secrets") },
  "host-device": {
    spec: host({
      Devices: [{ PathOnHost: "/dev/zero", PathInContainer: "/dev/glovebox-host", CgroupPermissions: "r" }],
    }),
  },
  "docker-socket": { spec: (spec, { engineSocket }) => withMount(spec, engineSocket, "/run/docker.sock") },
  "host-env": { spec: (spec, { token }) => ({ ...spec, Env: [...spec.Env, `HOST_SECRET=${token}`] }) },
  // The agent ends all processes of its user, so it gets one that nobody else has.
  "host-pid": {
    policy: (policy) => ({ ...policy, user: unusedUser(), capabilities: [] }),
    spec: host({ PidMode: "host" }),
  },
  "host-ipc": { spec: host({ IpcMode: "host" }) },
  "plain-host-name": { spec: (spec) => ({ ...spec, Hostname: "" }) },
  "host-uts": { spec: (spec) => ({ ...withHost(spec, { UTSMode: "host" }), Hostname: "" }) },
  "host-cgroupns": { spec: host({ CgroupnsMode: "host" }) },
  "network-bridge": {
    // Names are asked for at the host itself, so that no question leaves it.
    spec: (spec, { gateway }) => ({
      ...withHost(spec, { NetworkMode: "bridge", Dns: [gateway ?? "127.0.0.1"] }),
      NetworkDisabled: false,
    }),
  },
  "network-host": {
    spec: (spec) => ({ ...withHost(spec, { NetworkMode: "host" }), NetworkDisabled: false }),
  },
  "extra-host": { spec: host({ ExtraHosts: ["host.docker.internal:192.0.2.1"] }) },
  "no-pids-limit": { spec: host({ PidsLimit: 0 }) },
  // The engine takes no limit of swap without one of memory.
  "no-memory-limit": { spec: host({ Memory: 0, MemorySwap: 0 }) },
  swap: { spec: (spec) => withHost(spec, { MemorySwap: spec.HostConfig.Memory * 2 }) },
  "no-cpu-limit": { spec: host({ NanoCpus: 0 }) },
  "workspace-unbounded": { spec: withPlaces([WORKSPACE], /^size=/) },
  "inodes-unbounded": { spec: withPlaces([WORKSPACE], /^nr_inodes=/, "nr_inodes=0") },
  "tmp-unbounded": { spec: withPlaces(["/tmp"], /^size=/) },
  "tmp-inodes-unbounded": { spec: withPlaces(["/tmp"], /^nr_inodes=/, "nr_inodes=0") },
  "shm-unbounded": { spec: host({ ShmSize: 1024 ** 3 }) },
  "log-driver": { spec: host({ LogConfig: { Type: "json-file", Config: {} } }) },
  "no-ulimits": { spec: host({ Ulimits: [] }) },
  "core-files": { spec: withoutUlimit("core") },
  "open-files": { spec: withoutUlimit("nofile") },
  // The engine puts the image's before the command.
  "image-entrypoint": {
    spec: ({ Entrypoint, Cmd, ...spec }) => ({
      ...spec,
      Entrypoint: undefined as never,
      Cmd: [...Entrypoint, ...Cmd],
    }),
  },
  "image-health-check": { spec: (spec) => ({ ...spec, Healthcheck: undefined }) },
  "stdin-stays": { spec: (spec) => ({ ...spec, StdinOnce: false }) },
  "container-stays": { spec: host({ AutoRemove: false }) },
  restarts: { spec: host({ RestartPolicy: { Name: "always", MaximumRetryCount: 0 } }) },
  "no-oom-score": { spec: host({ OomScoreAdj: 0 }) },
}

/** The policy, and what is done to the containers made of it. */
export interface Weakened {
  readonly policy: PolicyInput
  readonly alter: (spec: ContainerSpec) => ContainerSpec
}

/** Takes settings away from the containers of a policy. */
export function weakenDocker(
  policy: PolicyInput,
  weakenings: readonly Weakening[],
  means: WeakeningMeans,
): Weakened {
  // With its rights the agent would end the processes of the host.
  if (weakenings.includes("host-pid") && weakenings.length > 1) {
    throw new GloveboxError("OPTION_INVALID", "host-pid cannot be combined with another weakening.")
  }
  const all = weakenings.map((name) => DOCKER_WEAKENINGS[name])
  return {
    policy: all.reduce((before, { policy: change }) => change?.(before) ?? before, policy),
    alter: (spec) => all.reduce((before, { spec: change }) => change?.(before, means) ?? before, spec),
  }
}

function withHost(spec: ContainerSpec, changes: Readonly<Record<string, unknown>>): ContainerSpec {
  return { ...spec, HostConfig: { ...spec.HostConfig, ...changes } }
}

function withoutSecurity(option: RegExp, ...instead: readonly string[]): DockerWeakening["spec"] {
  return (spec) => {
    const left = spec.HostConfig.SecurityOpt.filter((text) => !option.test(text))
    return withHost(spec, { SecurityOpt: [...left, ...instead] })
  }
}

function withPlaces(places: readonly string[], option: RegExp, instead?: string): DockerWeakening["spec"] {
  return (spec) => {
    const { Tmpfs } = spec.HostConfig
    const changed = Object.entries(Tmpfs).map(([place, options]) => {
      if (!places.includes(place)) return [place, options] as const
      const left = options.split(",").filter((text) => !option.test(text))
      return [place, [...left, ...(instead === undefined ? [] : [instead])].join(",")] as const
    })
    return withHost(spec, { Tmpfs: Object.fromEntries(changed) })
  }
}

function withoutUlimit(name: string): DockerWeakening["spec"] {
  return (spec) => {
    const limits = spec.HostConfig["Ulimits"] as readonly { readonly Name: string }[]
    return withHost(spec, { Ulimits: limits.filter(({ Name }) => Name !== name) })
  }
}

function uncovered(places: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(places).filter(([place]) => place === WORKSPACE || place === "/tmp"),
  )
}

interface Mount {
  readonly [field: string]: unknown
}

function mountsOf(spec: ContainerSpec): readonly Mount[] {
  const mounts = spec.HostConfig["Mounts"]
  return Array.isArray(mounts) ? (mounts as readonly Mount[]) : []
}

function writable(mount: Mount): Mount {
  return { ...mount, ReadOnly: false }
}

function shared(mount: Mount): Mount {
  return { ...mount, BindOptions: { Propagation: "rslave" } }
}

function withMount(spec: ContainerSpec, source: string, target: string): ContainerSpec {
  const mount = { Type: "bind", Source: source, Target: target, ReadOnly: true }
  return withHost(spec, { Mounts: [...mountsOf(spec), mount] })
}

function unusedUser(): string {
  const user = FIRST_UNUSED_USER + Math.floor(Math.random() * UNUSED_USERS)
  return `${user}:${user}`
}
