import { readFile } from "node:fs/promises"
import { Client, Metadata, Server, type ServiceDefinition, status } from "@grpc/grpc-js"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Certificates } from "./certificates.test-kit.ts"
import {
  type ChannelSecurityOptions,
  channelCredentials,
  channelSecurityOptions,
} from "./channel-credentials.ts"
import { serverCredentials } from "./server-credentials.ts"
import type { HostTls } from "./tls-options.ts"

const path = "/test.Echo/Echo"
const same = (bytes: Buffer): Buffer => bytes
const service: ServiceDefinition = {
  Echo: {
    path,
    requestStream: false,
    responseStream: false,
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
  },
}

let files: Certificates
const warnings: Error[] = []
const take = (warning: Error): unknown => warnings.push(warning)

/** What a client with these options is answered by a server with those. */
async function echo(tls: HostTls, security: ChannelSecurityOptions): Promise<string> {
  const server = new Server()
  server.addService(service, {
    Echo: (call: { readonly request: Buffer }, reply: (error: null, bytes: Buffer) => void) =>
      reply(null, call.request),
  })
  const credentials = await serverCredentials({ tls }, "127.0.0.1:0")
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", credentials, (error, bound) => (error ? reject(error) : resolve(bound))),
  )
  const address = `127.0.0.1:${port}`
  const client = new Client(address, await channelCredentials(security, address), {
    ...channelSecurityOptions(security, address),
  })
  try {
    return await new Promise<string>((resolve, reject) =>
      client.makeUnaryRequest(path, same, same, Buffer.from("hello"), new Metadata(), (error, bytes) =>
        error ? reject(error) : resolve(String(bytes)),
      ),
    )
  } finally {
    client.close()
    server.forceShutdown()
  }
}

beforeAll(async () => {
  // Node warns once only.
  process.on("warning", take)
  files = await Certificates.make()
})
afterAll(async () => {
  process.off("warning", take)
  await files[Symbol.asyncDispose]()
})

describe("TLS", () => {
  it("connects with the authority's certificate, of files", async () => {
    expect(await echo(files.pair("host"), { tls: { ca: files.path("ca") } })).toBe("hello")
  })

  it("connects with PEM texts", async () => {
    const [cert, key, ca] = await Promise.all(
      ["host", "host-key", "ca"].map(async (name) => readFile(files.path(name), "utf8")),
    )
    expect(await echo({ cert: cert ?? "", key: key ?? "" }, { tls: { ca: ca ?? "" } })).toBe("hello")
  })

  it.each<[string, () => ChannelSecurityOptions]>([
    ["an authority of others", () => ({ tls: { ca: files.path("other-ca") } })],
    ["the authorities of Node", () => ({ tls: true })],
    ["no encryption", () => ({})],
  ])("refuses %s", async (_name, security) => {
    await expect(echo(files.pair("host"), security())).rejects.toHaveProperty("code", status.UNAVAILABLE)
  })

  it("looks at the address in the certificate", async () => {
    const tls = { ca: files.path("ca") }
    await expect(echo(files.pair("elsewhere"), { tls })).rejects.toHaveProperty("code", status.UNAVAILABLE)
  })

  it("looks at the name in the certificate", async () => {
    const ca = files.path("ca")
    await expect(echo(files.pair("named"), { tls: { ca } })).rejects.toHaveProperty(
      "code",
      status.UNAVAILABLE,
    )
    expect(await echo(files.pair("named"), { tls: { ca, serverName: "host.example" } })).toBe("hello")
  })
})

describe("mutual TLS", () => {
  const host = (): HostTls => ({ ...files.pair("host"), clientCa: files.path("ca") })

  it("lets in who shows a certificate of the authority", async () => {
    expect(await echo(host(), { tls: { ca: files.path("ca"), ...files.pair("client") } })).toBe("hello")
  })

  it.each<[string, () => ChannelSecurityOptions]>([
    ["nobody without one", () => ({ tls: { ca: files.path("ca") } })],
    ["nobody with one of others", () => ({ tls: { ca: files.path("ca"), ...files.pair("stranger") } })],
  ])("lets in %s", async (_name, security) => {
    await expect(echo(host(), security())).rejects.toHaveProperty("code", status.UNAVAILABLE)
  })
})

it("has Node warn of nothing", () => {
  expect(warnings).toEqual([])
})
