import { describe, expect, it } from "vitest"
import { failureOf } from "../core/failure-of.test-kit.ts"
import { type PolicyInput, SandboxPolicy } from "./index.ts"

const effects = (changes: readonly { path: string; effect: string }[]): string[] =>
  changes.map(({ path, effect }) => `${path} ${effect}`)

describe("SandboxPolicy", () => {
  it("denies all when it says nothing", () => {
    const { fields } = new SandboxPolicy()
    expect(fields).toEqual({
      image: "python:3-slim",
      network: "none",
      seccomp: "strict",
      readOnlyRoot: true,
      user: "65532:65532",
      capabilities: [],
      limits: {
        wall: 60_000,
        memory: 512 * 1024 ** 2,
        cpus: 1,
        pids: 128,
        workspace: 256 * 1024 ** 2,
        files: 65_536,
        output: 1024 ** 2,
      },
      mounts: [],
      env: {},
      runtime: "auto",
    })
    expect(new SandboxPolicy().widenings()).toEqual([])
  })

  it("cannot be changed once it is made, nor through what it was made from", () => {
    const env = { A: "1" }
    const policy = new SandboxPolicy({ env })
    env.A = "2"
    expect(policy.fields.env).toEqual({ A: "1" })
    expect(() => Object.assign(policy.fields.limits, { memory: 1 })).toThrow(TypeError)
    policy.toJSON().mounts.push({ source: "/", target: "/", mode: "rw" })
    expect(policy.fields.mounts).toEqual([])
  })

  it("has one hash for every way of writing the same, and another for anything else", () => {
    const hash = (input: PolicyInput): string => new SandboxPolicy(input).sha256
    expect(hash({ limits: { memory: "1GiB", cpus: 2 } })).toBe(
      hash({ limits: { cpus: 2, memory: 1024 ** 3 } }),
    )
    expect(hash({})).toBe(hash({ network: "none", limits: {} }))
    expect(hash(JSON.parse(JSON.stringify(new SandboxPolicy({ env: { A: "1" } }))) as PolicyInput)).toBe(
      hash({ env: { A: "1" } }),
    )
    expect(hash({ capabilities: ["KILL", "CHOWN", "KILL"] })).toBe(hash({ capabilities: ["CHOWN", "KILL"] }))
    expect(hash({ network: { allow: ["B.com:1", "a.com:1"] } })).toBe(
      hash({ network: { allow: ["a.com:1", "b.com:1"] } }),
    )
    expect(hash({ tiers: ["wasm", "docker", "wasm"] })).toBe(hash({ tiers: ["docker", "wasm"] }))
    const others: PolicyInput[] = [
      { tiers: ["docker"] },
      {},
      { env: { A: "1" } },
      { env: { A: "2" } },
      { readOnlyRoot: false },
      { image: "a" },
    ]
    expect(new Set(others.map(hash)).size).toBe(others.length)
    expect(hash({})).toMatch(/^[0-9a-f]{64}$/)
  })

  it.each<[unknown, RegExp]>([
    [{ netwrok: "none" }, /netwrok: is not a field.*did you mean "network"\?/],
    [{ limits: { memroy: "1GiB" } }, /limits\.memroy: .*did you mean "memory"\?/],
    [{ mounts: [{ source: "/a", target: "/b", readonly: true }] }, /mounts\.0\.readonly: is not a field/],
    [{ limits: { memory: "lots" } }, /limits\.memory: "lots" is not a size/],
    [{ limits: { memory: "1MiB" } }, /1MiB is outside 16MiB to/],
    [{ limits: { wall: "0s" } }, /limits\.wall/],
    [{ limits: { pids: 0 } }, /limits\.pids/],
    [{ limits: { cpus: Infinity } }, /limits\.cpus/],
    [{ network: "bridge" }, /network: must be none/],
    [{ network: { allow: [] } }, /an empty list allows nothing/],
    [{ network: { allow: ["*"] } }, /network\.allow\.0: must be "host:port"/],
    [{ network: { allow: ["example.com"] } }, /host:port/],
    [{ network: { allow: ["evil.com\0.example.com:443"] } }, /host:port/],
    [{ network: { alow: ["example.com:443"] } }, /network.*did you mean "allow"/],
    [{ user: "root" }, /user: must be "uid:gid"/],
    [{ user: "65532" }, /uid:gid/],
    [{ capabilities: ["net_raw"] }, /capabilities\.0/],
    [{ mounts: [{ source: "relative", target: "/x" }] }, /mounts\.0\.source: must be an absolute path/],
    [{ mounts: [{ source: "/a", target: "/x/../etc" }] }, /climb/],
    [{ env: { "A=B": "1" } }, /env/],
    [{ env: { A: 1 } }, /env\.A/],
    [{ image: "python:3 --privileged" }, /image: is not the name/],
    [{ runtime: "../runc" }, /runtime/],
    [{ isolation: "none" }, /isolation/],
    [{ tiers: [] }, /tiers: an empty list lets nothing run/],
    [{ tiers: ["dokcer"] }, /tiers\.0/],
    [{ tiers: "docker" }, /tiers/],
    [{ tier: ["docker"] }, /did you mean "tiers"\?/],
    [{ user: "4294967296:4294967296" }, /too large/],
    [{ mounts: [{ source: "/a:/b", target: "/c" }] }, /without colons/],
    [{ mounts: [{ source: "/a", target: "/b,readonly=false" }] }, /commas/],
    [{ mounts: [{ source: "/a\n", target: "/b" }] }, /control characters/],
    [{ mounts: [{ source: "/a", target: "//" }] }, /must not be the root/],
    [{ mounts: [{ source: "/a", target: "/." }] }, /must not be the root/],
    [{ mounts: [{ source: "/a", target: "/workspace" }] }, /mounts\.0\.mode: must be rw for \/workspace/],
    [{ mounts: [{ source: "/a", target: "/workspace/./", mode: "ro" }] }, /must be rw for \/workspace/],
    [{ mounts: [{ source: "/a", target: "/proc", mode: "rw" }] }, /mounts\.0\.target: \/proc cannot be/],
    [{ mounts: [{ source: "/a", target: "/proc/self/x" }] }, /has a \/proc of its own/],
    [
      { mounts: [{ source: "/a", target: "//sys//fs/cgroup/" }] },
      /\/sys\/fs\/cgroup cannot .*a \/sys of its own/,
    ],
    [{ mounts: [{ source: "/a", target: "/dev" }] }, /has a \/dev of its own/],
    [{ mounts: [{ source: "/a", target: "/usr/" }] }, /\/usr cannot .*own programs are there/],
    [{ mounts: [{ source: "/a", target: "/lib64" }] }, /own programs are there/],
    [
      {
        mounts: [
          { source: "/a", target: "/x" },
          { source: "/b", target: "//x/" },
        ],
      },
      /share a target/,
    ],
    [
      {
        mounts: [
          { source: "/a", target: "/x" },
          { source: "/b", target: "/x" },
        ],
      },
      /share a target/,
    ],
    [{ network: { allow: ["example.com:99999"] } }, /port above/],
    [JSON.parse('{"env":{"__proto__":"x"}}'), /env\.__proto__/],
    [{ readOnlyRoot: "yes" }, /readOnlyRoot/],
    ["deny", /expected object/],
    [null, /expected object/],
  ])("refuses %j", (input, message) => {
    expect(failureOf(() => new SandboxPolicy(input as PolicyInput))).toMatch(
      /^POLICY_INVALID: The policy is not valid: /,
    )
    expect(failureOf(() => new SandboxPolicy(input as PolicyInput))).toMatch(message)
  })

  it("knows a mount's target however it is written, and lets useful ones through", () => {
    const mounts = [
      "/data//x/./",
      "/workspace/",
      "/tmp",
      "/dev/shm/",
      "/usr/share/x",
      "/process",
      "/opt",
    ].map((target) => ({ source: "/a", target, mode: "rw" as const }))
    expect(new SandboxPolicy({ mounts }).fields.mounts.map(({ target }) => target)).toEqual([
      "/data/x",
      "/workspace",
      "/tmp",
      "/dev/shm",
      "/usr/share/x",
      "/process",
      "/opt",
    ])
  })

  it("mounts read-only unless it says otherwise", () => {
    expect(new SandboxPolicy({ mounts: [{ source: "/data", target: "/data" }] }).fields.mounts[0]?.mode).toBe(
      "ro",
    )
  })
})

describe("widenings", () => {
  it.each<[PolicyInput, string]>([
    [{ network: { allow: ["example.com:443"] } }, "network widens"],
    [{ network: { dangerously: "bridge" } }, "network widens"],
    [{ readOnlyRoot: false }, "readOnlyRoot widens"],
    [{ user: "0:0" }, "user widens"],
    [{ user: "1000:0" }, "user widens"],
    [{ capabilities: ["NET_RAW"] }, "capabilities widens"],
    [{ limits: { wall: "2m" } }, "limits.wall widens"],
    [{ limits: { memory: "1GiB" } }, "limits.memory widens"],
    [{ limits: { cpus: 2 } }, "limits.cpus widens"],
    [{ limits: { pids: 129 } }, "limits.pids widens"],
    [{ limits: { workspace: "1GiB" } }, "limits.workspace widens"],
    [{ limits: { files: 70_000 } }, "limits.files widens"],
    [{ limits: { output: "2MiB" } }, "limits.output widens"],
    [{ mounts: [{ source: "/data", target: "/data" }] }, "mounts widens"],
    [{ env: { TOKEN: "secret" } }, "env widens"],
    [{ runtime: "runc" }, "runtime widens"],
  ])("names %j", (input, widening) => {
    expect(effects(new SandboxPolicy(input).widenings())).toEqual([widening])
  })

  it("leaves out what is narrower or merely other", () => {
    const policy = new SandboxPolicy({
      image: "node:22",
      limits: { memory: "64MiB" },
      isolation: "vm",
      tiers: ["docker", "local"],
      user: "1000:1000",
    })
    expect(policy.widenings()).toEqual([])
  })
})

describe("diff", () => {
  const diff = (before: PolicyInput, after: PolicyInput): string[] =>
    new SandboxPolicy(after)
      .diff(new SandboxPolicy(before))
      .map(({ path, from, to, effect }) => `${path}: ${from} -> ${to} (${effect})`)

  it("says for each change what it was, what it is, and which way it goes", () => {
    expect(
      diff(
        {
          network: { allow: ["a.com:443", "b.com:443"] },
          limits: { memory: "1GiB" },
          capabilities: ["CHOWN"],
          isolation: "vm",
        },
        {
          network: { allow: ["b.com:443", "c.com:443"] },
          limits: { memory: "2GiB", wall: "30s" },
          image: "x",
          isolation: "wasm",
        },
      ),
    ).toEqual([
      "image: python:3-slim -> x (changes)",
      "network.allow: absent -> c.com:443 (widens)",
      "network.allow: a.com:443 -> absent (narrows)",
      "capabilities: CHOWN -> absent (narrows)",
      "limits.wall: 1m -> 30s (narrows)",
      "limits.memory: 1GiB -> 2GiB (widens)",
      "isolation: vm -> wasm (widens)",
    ])
  })

  it("knows a mount that becomes writable, and a network that opens further", () => {
    const mount = { source: "/data", target: "/data" }
    expect(diff({ mounts: [mount] }, { mounts: [{ ...mount, mode: "rw" }] })).toEqual([
      "mounts: absent -> /data:/data:rw (widens)",
      "mounts: /data:/data:ro -> absent (narrows)",
    ])
    expect(diff({ network: { allow: ["a.com:1"] } }, { network: { dangerously: "host" } })).toEqual([
      "network: allow a.com:1 -> dangerously host (widens)",
    ])
  })

  it("knows each way to root, and the loss of a kernel of its own", () => {
    expect(diff({ user: "1000:0" }, { user: "0:0" })).toEqual(["user: 1000:0 -> 0:0 (widens)"])
    expect(diff({ user: "0:0" }, { user: "0:1000" })).toEqual(["user: 0:0 -> 0:1000 (narrows)"])
    expect(diff({ runtime: "runsc" }, { runtime: "auto" })).toEqual(["runtime: runsc -> auto (widens)"])
    expect(diff({ runtime: "runc" }, { runtime: "runsc" })).toEqual(["runtime: runc -> runsc (narrows)"])
  })

  it("knows a kind of sandbox more, one less, and a list that is gone", () => {
    expect(diff({ tiers: ["docker", "bubblewrap"] }, { tiers: ["docker", "wasm"] })).toEqual([
      "tiers: absent -> wasm (widens)",
      "tiers: bubblewrap -> absent (narrows)",
    ])
    expect(diff({ tiers: ["wasm", "docker"] }, {})).toEqual(["tiers: docker, wasm -> any (widens)"])
    expect(diff({}, { tiers: ["docker"] })).toEqual(["tiers: any -> docker (narrows)"])
    expect(diff({ tiers: ["docker"] }, { tiers: ["docker"] })).toEqual([])
  })

  it("never prints the value of a variable", () => {
    const changes = diff(
      { env: { TOKEN: "old-secret", GONE: "x" } },
      { env: { TOKEN: "new-secret", MORE: "y" } },
    )
    expect(changes).toEqual([
      "env: absent -> MORE (widens)",
      "env: GONE -> absent (narrows)",
      "env.TOKEN: a value -> another (changes)",
    ])
  })
})
