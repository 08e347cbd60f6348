import { createSocket } from "node:dgram"
import { promises as dns } from "node:dns"
import { once } from "node:events"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { GrpcWorkerAgentRuntime, GrpcWorkerAgentRuntimeHost } from "../index.ts"

const before = dns.getServers()
const server = createSocket("udp4")
const asked: string[] = []

beforeEach(async () => {
  server.on("message", (query) => asked.push(query.toString("latin1")))
  server.bind(0, "127.0.0.1")
  await once(server, "listening")
  dns.setServers([`127.0.0.1:${server.address().port}`])
})
afterEach(() => {
  dns.setServers(before)
  server.close()
})

describe("a worker that is given a name", () => {
  it("asks name servers for no settings, which would hold its process where they do not answer", async () => {
    await using host = new GrpcWorkerAgentRuntimeHost({ address: "127.0.0.1:0" })
    await host.start()
    const port = host.address.split(":").at(-1)
    const runtime = new GrpcWorkerAgentRuntime({ hostAddress: `localhost:${port}` })
    await runtime.start()
    await runtime.close()
    // The last question: what was asked before it has arrived too.
    const control = new dns.Resolver()
    control.setServers(dns.getServers())
    const ended = control.resolveTxt("control.test").catch((error: unknown) => error)
    while (!asked.some((query) => query.includes("control"))) await once(server, "message")
    control.cancel()
    expect(await ended).toMatchObject({ code: "ECANCELLED" })
    expect(asked.filter((query) => !query.includes("control"))).toEqual([])
  })
})
