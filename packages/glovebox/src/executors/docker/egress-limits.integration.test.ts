import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import { SandboxPolicy } from "../../policy/index.ts"
import { begin, succeed } from "../../testing/expectations.ts"
import { HAS_NO_DOCKER, docker } from "./docker-subject.test-kit.ts"
import { program } from "./egress-programs.test-kit.ts"
import {
  HOST,
  type TestServer,
  echoServer,
  holdingServer,
  reaching,
  webServer,
} from "./egress-servers.test-kit.ts"

const OTHER = "other.test"

describe.skipIf(HAS_NO_DOCKER)("an allow-list in Docker", () => {
  let web: TestServer
  let url = ""
  beforeAll(async () => {
    web = await webServer()
    url = `http://${HOST}:${web.port}`
  })
  afterAll(async () => web[Symbol.asyncDispose]())

  describe("that is made narrower while code runs", () => {
    it("ends what it no longer allows, denies what comes later, and leaves the rest", async () => {
      const options = reaching(web.port, {}, { allow: [`${HOST}:${web.port}`, `${OTHER}:${web.port}`] })
      const narrower = { ...options.network, allow: [`${OTHER}:${web.port}`] }
      await using executor = docker({ pool: false, ...options })
      const wide = executor.policy.sha256
      const { result, spoke } = begin(executor, [
        program(`download = urllib.request.urlopen("${url}/drip", timeout=30)
show(download.read(5))
try: show("rest", download.read())
except OSError as error: show("cut")
show(fetch("${url}/hello"))
show(fetch("http://${OTHER}:${web.port}/hello"))`),
      ])
      expect(await spoke).toContain("begun")
      executor.tightenNetwork(narrower)
      const { stdout, egress, sandbox } = await result
      expect(stdout.split("\n").map((line) => line.slice(0, 40))).toEqual([
        "begun",
        "cut",
        expect.stringMatching(/^403 Denied by Glovebox/) as string,
        expect.stringContaining("Do without index.test") as string,
        "",
        `hello from ${OTHER}:${web.port}`,
        "",
      ])
      expect(egress).toMatchObject([
        { host: HOST, verdict: "allowed", ended: "policy", denial: { code: "POLICY_TIGHTENED" } },
        { host: HOST, verdict: "denied", denial: { code: "NOT_ALLOWED" } },
        { host: OTHER, verdict: "allowed" },
      ])
      await web.whenLeft()
      const expected = new SandboxPolicy({ ...executor.policy.toJSON(), network: narrower }).sha256
      expect([sandbox.policySha256, executor.policy.sha256]).toEqual([expected, expected])
      expect(expected).not.toBe(wide)
    })

    it("holds in a container that was ready before", async () => {
      await using executor = docker({ pool: { size: 1 }, ...reaching(web.port) })
      await executor.start()
      executor.tightenNetwork("none")
      const { stdout, sandbox } = await succeed(executor, program(`show(fetch("${url}/hello")[:3])`))
      expect([stdout, sandbox.pooled]).toEqual(["403\n", true])
    })

    it("cannot be made wider again, by any field", async () => {
      const options = reaching(web.port, { methods: ["GET"], paths: ["/hello"], down: "1MiB" })
      await using executor = docker({ pool: false, ...options })
      const { sha256 } = executor.policy
      const rule = { to: `${HOST}:${web.port}`, methods: ["GET"], paths: ["/hello"], down: "1MiB" }
      const { network } = options
      for (const wider of [
        { ...network, allow: [rule, "evil.test:443"] },
        { ...network, allow: [`${HOST}:${web.port}`] },
        { ...network, allow: [{ ...rule, methods: ["GET", "POST"] }] },
        { ...network, allow: [{ ...rule, paths: ["/"] }] },
        { ...network, allow: [{ ...rule, down: "2MiB" }] },
        { ...network, allow: [{ ...rule, to: `*.${HOST}:${web.port}` }] },
        { ...network, allowPrivate: [...(network.allowPrivate ?? []), "10.0.0.5:5432"] },
        { ...network, connections: 1000 },
        { ...network, idle: "5m" },
        { dangerously: "bridge" as const },
      ]) {
        expect(failureOf(() => executor.tightenNetwork(wider))).toMatch(
          /^OPTION_INVALID: .*only be made narrower.*would allow more/,
        )
      }
      expect(executor.policy.sha256).toBe(sha256)
      executor.tightenNetwork("none")
      const { stdout } = await succeed(executor, program(`show(fetch("${url}/hello")[:3])`))
      expect(stdout).toBe("403\n")
      expect(failureOf(() => executor.tightenNetwork(network))).toMatch(/^OPTION_INVALID/)
    })
  })

  it("keeps methods and paths of a rule", async () => {
    await using executor = docker({
      pool: false,
      ...reaching(web.port, { methods: ["GET"], paths: ["/hello"] }),
    })
    const { stdout, egress } = await succeed(
      executor,
      program(`show(fetch("${url}/hello")); show(fetch("${url}/bytes/1")[:3]); show(fetch("${url}/hello", b"x")[:3])
show(fetch("${url}/hello/../bytes/1")[:3])`),
    )
    expect(stdout).toBe(`hello from ${HOST}:${web.port}\n403\n403\n403\n`)
    expect(egress?.map(({ denial }) => denial?.code)).toEqual([undefined, "PATH", "METHOD", "PATH"])
  })

  it("has budgets of bytes, up and down, over all connections of a run", async () => {
    const budget = 100_000
    await using executor = docker({ pool: false, ...reaching(web.port, { down: budget }) })
    const down = await succeed(
      executor,
      program(`try: print(len(urllib.request.urlopen("${url}/zeros/1000000").read()))
except Exception as error: print(type(error).__name__)
show(fetch("${url}/hello")[:80])`),
    )
    expect(down.stdout).toMatch(
      /^(ConnectionResetError|IncompleteRead)\n403 Denied by Glovebox: The bytes that may go through the rule index\.test/,
    )
    expect(down.egress).toMatchObject([
      { verdict: "allowed", ended: "budget", bytesDown: budget, denial: { code: "BUDGET" } },
      { verdict: "denied", ended: "budget", denial: { code: "BUDGET" } },
    ])
    await using server = await echoServer()
    await using sender = docker({ pool: false, ...reaching(server.port, { up: budget, protocol: "tcp" }) })
    const up = await succeed(
      sender,
      program(`connection = connect("${HOST}", ${server.port})
try:
    for _ in range(100): connection.sendall(bytes(10_000))
except OSError: pass
read_all(connection)
try: connect("${HOST}", ${server.port}); print("OPEN")
except OSError as error: print(error)`),
    )
    expect(up.stdout).toMatch(/403 Denied by Glovebox: The bytes/)
    expect(up.egress).toMatchObject([{ ended: "budget", bytesUp: budget }, { denial: { code: "BUDGET" } }])
    expect(server.heard).toBeLessThanOrEqual(budget)
    // A new container has all of it again.
    const again = await succeed(executor, program(`show(fetch("${url}/hello")[:5])`))
    expect(again.stdout).toBe("hello\n")
  })

  it("bounds how many connections are open, and how long nothing may move", async () => {
    await using server = await holdingServer()
    await using executor = docker({
      pool: false,
      ...reaching(server.port, { protocol: "tcp" }, { connections: 3, idle: "700ms" }),
    })
    const { stdout, egress } = await succeed(
      executor,
      program(`held = [connect("${HOST}", ${server.port}) for _ in range(3)]
try: connect("${HOST}", ${server.port}); print("OPEN")
except OSError as error: print(error)
print([read_all(one) for one in held])
connect("${HOST}", ${server.port}).close(); print("again")`),
    )
    const [refused, ended, again] = stdout.trim().split("\n")
    expect(refused).toBe("HTTP/1.1 503 Refused by Glovebox: 3 connections are open, and no more may be")
    expect(ended).toMatch(/^\[(b'(ConnectionResetError)?'(, )?){3}\]$/)
    expect(again).toBe("again")
    expect(
      egress?.slice(0, 4).map(({ verdict, ended: end, denial }) => [verdict, end, denial?.code]),
    ).toEqual([
      ["allowed", "idle", "IDLE"],
      ["allowed", "idle", "IDLE"],
      ["allowed", "idle", "IDLE"],
      ["denied", "policy", "TOO_MANY_CONNECTIONS"],
    ])
    await server.whenLeft()
  })
})
