import { once } from "node:events"
import { type AddressInfo, createServer } from "node:net"
import { describe, expect, it, onTestFinished } from "vitest"
import { GloveboxError } from "../../../core/index.ts"
import { DockerFleet, type DockerFleetOptions, type FleetExecutorOptions } from "../index.ts"
import { distinctName } from "./tenant-name.ts"

const HOSTS = [
  { name: "a", dockerHost: "unix:///nowhere/a.sock", capacity: 1, labels: ["gpu"] },
  { name: "b", dockerHost: "unix:///nowhere/b.sock", capacity: 1 },
]

function fleet(options: Partial<DockerFleetOptions> = {}): DockerFleet {
  return new DockerFleet({ hosts: HOSTS, tenants: { acme: {} }, ...options })
}

const cpu = (amount: number, perMs: number): { amount: number; perMs: number } => ({ amount, perMs })

describe("DockerFleet's options", () => {
  const wrong: [string, Partial<DockerFleetOptions>, RegExp][] = [
    ["no hosts", { hosts: [] }, /hosts/],
    ["two hosts of one name", { hosts: [HOSTS[0]!, { ...HOSTS[1]!, name: "a" }] }, /same name: a/],
    ["one engine twice", { hosts: [HOSTS[0]!, { ...HOSTS[0]!, name: "b" }] }, /same dockerHost/],
    ["a host without capacity", { hosts: [{ ...HOSTS[0]!, capacity: 0 }] }, /capacity/],
    ["no tenants", { tenants: {} }, /tenants/],
    ["a tenant without a name", { tenants: { "": {} } }, /name of a tenant/],
    ["a tenant with a control character", { tenants: { "a\nb": {} } }, /name of a tenant/],
    ["half a character, as which all look the same", { tenants: { "a\ud800": {} } }, /name of a tenant/],
    ["a tenant that is none", { tenants: { acme: null as never } }, /must be an object/],
    ["an unknown option", { tenant: {} } as object, /tenants/],
    ["an unknown option of a tenant", { tenants: { acme: { quotas: {} } as object } }, /quota/],
    ["an unknown option of a host", { hosts: [{ ...HOSTS[0]!, size: 1 } as never] }, /size/],
    ["a quota that is no number", { tenants: { acme: { quota: { runsPerMinute: NaN } } } }, /runsPerMinute/],
    ["half a session", { tenants: { acme: { quota: { sessions: 0.5 } } } }, /sessions/],
    ["no CPU time at all", { tenants: { acme: { quota: { cpuSeconds: cpu(0, 1000) } } } }, /amount/],
    ["endless CPU time", { tenants: { acme: { quota: { cpuSeconds: cpu(Infinity, 1000) } } } }, /amount/],
    ["a period that is none", { tenants: { acme: { quota: { cpuSeconds: cpu(1, NaN) } } } }, /perMs/],
    ["a period without end", { tenants: { acme: { quota: { cpuSeconds: cpu(1, 1e300) } } } }, /perMs/],
    ["no health checks", { healthCheckMs: Infinity }, /healthCheckMs/],
    ["a host nobody knows", { tenants: { acme: { hosts: ["c"] } } }, /names the host "c".*has a, b/],
    ["labels nobody has", { tenants: { acme: { hosts: ["b"], labels: ["gpu"] } } }, /no host/],
    ["a quota of nothing", { tenants: { acme: { quota: { concurrentRuns: 0 } } } }, /concurrentRuns/],
    [
      "an engine of a tenant's own",
      { tenants: { acme: { dockerHost: "unix:///x" } as object } },
      /dockerHost/,
    ],
    ["a policy that is none", { tenants: { acme: { policy: { limits: { cpus: -1 } } } } }, /cpus/],
  ]
  it.each(wrong)("refuse %s", (_what, options, message) => {
    expect(() => fleet(options)).toThrow(message)
  })

  it("refuse a folder that one tenant writes and another sees", () => {
    const mount = (source: string, mode: "ro" | "rw"): object => ({
      policy: { mounts: [{ source, target: "/data", mode }] },
    })
    const shared = (one: object, other: object): (() => DockerFleet) => {
      return () => fleet({ tenants: { one, other } })
    }
    expect(shared(mount("/srv/data", "rw"), mount("/srv/data/sub", "ro"))).toThrow("one may write")
    expect(shared(mount("/srv/data", "ro"), mount("/srv", "rw"))).toThrow("one may write")
    expect(() => fleet({ tenants: { acme: mount("/srv/work/x", "ro") }, workRoot: "/srv/work" })).toThrow(
      "files of all tenants",
    )
    shared(mount("/srv/data", "ro"), mount("/srv/data", "ro"))()
    shared(mount("/srv/data", "rw"), mount("/srv/data2", "rw"))()
  })
})

describe("DockerFleet.executor", () => {
  it("is a Docker executor with the tenant's policy", () => {
    const policy = { limits: { memory: "64MiB" } }
    const executor = fleet({ image: "some/image:1", tenants: { acme: { policy } } }).executor({
      tenant: "acme",
    })
    expect([executor.kind, executor.tenant, executor.pool]).toEqual(["docker", "acme", undefined])
    expect([executor.policy.fields.image, executor.policy.fields.limits.memory]).toEqual([
      "some/image:1",
      64 * 1024 ** 2,
    ])
    expect(executor.beyondPolicy).toEqual([])
  })

  it("tells of devices, which no policy has", () => {
    const tenants = { acme: { deviceRequests: [{ count: -1, capabilities: [["gpu"]] }] } }
    const executor = fleet({ tenants }).executor({ tenant: "acme" })
    expect(executor.beyondPolicy).toMatchObject([{ path: "deviceRequests", effect: "widens" }])
  })

  it("takes a narrower policy, and none that is wider or other", () => {
    const own = fleet({ tenants: { acme: { policy: { limits: { wall: "30s" } } } } })
    const executor = own.executor({ tenant: "acme", policy: { limits: { wall: "5s" } } })
    expect(executor.policy.fields.limits.wall).toBe(5_000)
    for (const policy of [
      { limits: { wall: "31s" } },
      { network: { allow: ["example.com:443"] } },
      { image: "other" },
    ]) {
      expect(() => own.executor({ tenant: "acme", policy })).toThrow("narrower policy")
    }
  })

  it("refuses a tenant that is not there, and options that are an operator's", () => {
    expect(() => fleet().executor({ tenant: "acmee" })).toThrow("did you mean acme")
    expect(() => fleet().executor({ tenant: "constructor" })).toThrow("no tenant")
    const folder = { tenant: "acme", workDir: "/srv" } as FleetExecutorOptions
    expect(() => fleet().executor(folder)).toThrow("workDir")
    expect(() => fleet().executor({ tenant: "acme", workspace: "x" })).toThrow("workRoot")
    expect(() => fleet({ workRoot: "/srv" }).executor({ tenant: "acme", workspace: "\udfff" })).toThrow(
      /half/,
    )
    expect(() => fleet().executor(undefined as never)).toThrow(GloveboxError)
  })
})

describe("distinctName", () => {
  it("differs for names that look the same without what is not allowed", () => {
    const names = [
      "a b",
      "a_b",
      "a-b",
      "A-B",
      "a/b",
      "a..b",
      "../a",
      "ä",
      "ö",
      "",
      "-",
      "x".repeat(90),
      "x".repeat(91),
    ]
    const made = names.map((name) => distinctName(name))
    expect(new Set(made).size).toBe(names.length)
    for (const name of made) expect(name).toMatch(/^[a-z0-9][a-z0-9-]{0,41}$/)
  })
})

describe("a fleet whose engines do not answer", () => {
  it("says so, with the reason of each, and ends", async () => {
    await using down = fleet()
    await using executor = down.executor({ tenant: "acme" })
    const running = executor.executeCodeBlocks([{ language: "python", code: "1" }])
    await expect(running).rejects.toMatchObject({ code: "ENGINE_UNAVAILABLE" })
    await expect(running).rejects.toThrow(/a: .*nowhere\/a\.sock.* b: .*nowhere\/b\.sock/s)
    expect(down.status().hosts.map(({ state }) => state)).toEqual(["down", "down"])
    await down.stop()
    await expect(executor.start()).rejects.toMatchObject({ code: "EXECUTOR_STOPPED" })
  })

  it("is stopped at once while one of them is silent", async () => {
    const silent = createServer(() => {}).listen(0, "127.0.0.1")
    await once(silent, "listening")
    onTestFinished(() => void silent.close())
    const asked = once(silent, "connection")
    const { port } = silent.address() as AddressInfo
    const waiting = fleet({
      hosts: [{ name: "a", dockerHost: `tcp://127.0.0.1:${port}`, capacity: 1 }],
      healthTimeoutMs: 600_000,
    })
    const executor = waiting.executor({ tenant: "acme" })
    const running = executor.executeCodeBlocks([{ language: "python", code: "1" }])
    const refused = running.catch((error: unknown) => error)
    await asked
    await waiting.stop()
    expect(await refused).toMatchObject({ code: "EXECUTOR_STOPPED" })
  })
})
