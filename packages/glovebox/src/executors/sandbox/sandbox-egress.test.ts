import { describe, expect, it } from "vitest"
import { TestServer } from "../../egress/egress-gate.test-kit.ts"
import { MemoryClient } from "../../egress/memory-client.test-kit.ts"
import { SandboxPolicy } from "../../policy/index.ts"
import { DockerCommandLineCodeExecutor } from "../docker/docker-command-line-code-executor.ts"
import { EgressControl, type SandboxEgress } from "./sandbox-egress.ts"

const VALUE = "a-value-for-the-tests"

/** The way out of a sandbox whose requests to the server get a key. */
function wayTo({ port }: TestServer): SandboxEgress {
  const { fields } = new SandboxPolicy({
    network: { allow: [`data.test:${port}`], allowPrivate: [`127.0.0.1:${port}`] },
    secrets: { KEY: { hosts: [`http://data.test:${port}`], header: "X-Key" } },
  })
  const control = new EgressControl(fields, {
    secretValues: { KEY: VALUE },
    egress: { lookup: () => Promise.resolve(["127.0.0.1"]) },
  })
  control.prepare()
  return control.open()!
}

async function ask(egress: SandboxEgress, { port }: TestServer): Promise<string> {
  const text = `GET http://data.test:${port}/x HTTP/1.1\r\nHost: data.test:${port}\r\n\r\n`
  const client = MemoryClient.of(Buffer.from(text))
  egress.accept(client)
  await client.gone
  return client.received
}

describe("SandboxEgress", () => {
  it("tells the first call what was reached while its sandbox was set up", async () => {
    await using server = await TestServer.http()
    const egress = wayTo(server)
    expect(await ask(egress, server)).toContain("200 OK")
    const states: unknown[] = []
    egress.listen(({ state, connection }) => states.push([state, connection.secrets?.[0]?.name]))
    expect(states).toEqual([
      ["opened", "KEY"],
      ["closed", "KEY"],
    ])
    egress.close()
  })

  it("uses no value when the call is over, since nobody would hear of it", async () => {
    await using server = await TestServer.http()
    const egress = wayTo(server)
    egress.listen(() => {})
    await ask(egress, server)
    expect(server.received).toContain(VALUE)
    server.received = ""
    for (const end of [() => egress.takeRecords(), () => egress.listen(undefined)]) {
      egress.listen(() => {})
      end()
      expect(await ask(egress, server)).toBe("")
      expect(server.received).toBe("")
      expect(egress.takeRecords().connections).toMatchObject([{ verdict: "allowed", ended: "closed" }])
    }
    egress.close()
  })

  it("trusts no authority that it cannot read", () => {
    const damaged = "-----BEGIN CERTIFICATE-----\nTUlJ\n-----END CERTIFICATE-----\n"
    expect(() => new DockerCommandLineCodeExecutor({ egress: { ca: damaged } })).toThrow(/ca.*as PEM/)
  })
})
