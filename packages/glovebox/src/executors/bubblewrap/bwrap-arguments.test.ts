import { describe, expect, it } from "vitest"
import { SandboxPolicy } from "../../policy/index.ts"
import type { PolicyInput } from "../../policy/index.ts"
import { type BwrapInput, bwrapControls } from "./bwrap-arguments.ts"

function controls(policy: PolicyInput = {}, input: Partial<BwrapInput> = {}): Record<string, string> {
  const list = bwrapControls({
    policy: new SandboxPolicy(policy).fields,
    tree: [
      { kind: "bind", source: "/usr", target: "/usr" },
      { kind: "link", to: "usr/bin", target: "/bin" },
    ],
    files: [{ fd: 7, path: "/etc/passwd" }],
    filters: [5, 6],
    infoFd: 4,
    cgroup: [],
    places: undefined,
    hidden: ["/proc/keys"],
    env: {},
    ...input,
  })
  return Object.fromEntries(list.map(({ name, args }) => [name, args.join(" ")]))
}

describe("bwrapControls", () => {
  it("leaves nothing to bwrap's defaults", () => {
    expect(controls()).toEqual({
      "user namespace": "--unshare-user --uid 65532 --gid 65532",
      "no further user namespaces": "--disable-userns --assert-userns-disabled",
      "process namespace": "--unshare-pid --as-pid-1",
      "network namespace": "--unshare-net",
      "ipc namespace": "--unshare-ipc",
      "host name": "--unshare-uts --hostname sandbox",
      "cgroup namespace": "--unshare-cgroup",
      capabilities: "--cap-drop ALL",
      session: "--new-session",
      "end with parent": "--die-with-parent",
      environment: "--clearenv",
      variables: "--setenv PATH /usr/local/bin:/usr/bin:/bin --setenv HOME /workspace --setenv LANG C.UTF-8",
      tree: "--ro-bind /usr /usr --symlink usr/bin /bin",
      "own files": "--perms 0444 --file 7 /etc/passwd",
      processes: "--proc /proc --ro-bind /dev/null /proc/keys",
      devices: "--dev /dev",
      cgroup: "",
      "writable places":
        "--perms 0700 --size 268435456 --tmpfs /workspace --perms 0700 --size 67108864 --tmpfs /tmp --perms 0700 --size 67108864 --tmpfs /dev/shm",
      mounts: "",
      "read-only devices": "--remount-ro /dev",
      "read-only root": "--remount-ro /",
      folder: "--chdir /",
      filter: "--add-seccomp-fd 5 --add-seccomp-fd 6",
      report: "--info-fd 4",
    })
  })

  it("makes the root read-only after everything that is made in it", () => {
    const names = Object.keys(controls())
    const making = ["tree", "own files", "processes", "devices", "cgroup", "writable places", "mounts"]
    for (const name of making) expect(names.indexOf(name)).toBeLessThan(names.indexOf("read-only devices"))
    expect(names.indexOf("read-only devices")).toBeLessThan(names.indexOf("read-only root"))
  })

  it("takes places that are mounted already", () => {
    const places = { workspace: "/mnt/w", tmp: "/mnt/t", shm: "/mnt/s" }
    expect(controls({}, { places })["writable places"]).toBe(
      "--bind /mnt/w /workspace --bind /mnt/t /tmp --bind /mnt/s /dev/shm",
    )
  })

  it("keeps small places as small as the workspace", () => {
    expect(controls({ limits: { workspace: "8MiB" } })["writable places"]).toMatch(
      /--size 8388608 --tmpfs \/tmp/,
    )
  })

  it("mounts what the policy names, after and in the place of its own", () => {
    const mounts = [
      { source: "/srv/data", target: "/data" },
      { source: "/srv/work", target: "/workspace/", mode: "rw" as const },
    ]
    const { mounts: args, "writable places": places } = controls({ mounts })
    expect(args).toBe("--ro-bind /srv/data /data --bind /srv/work /workspace")
    expect(places).not.toContain("/workspace")
  })

  it("has the policy's variables over its own, and both ways to modules", () => {
    const policy = { env: { PATH: "/opt/bin", PYTHONPATH: "/data/lib" } }
    expect(controls(policy, { env: { PYTHONPATH: "/opt/glovebox/lib" } })["variables"]).toBe(
      "--setenv PATH /opt/bin --setenv HOME /workspace --setenv LANG C.UTF-8 --setenv PYTHONPATH /opt/glovebox/lib:/data/lib",
    )
  })
})
