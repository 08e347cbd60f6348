import { describe, expect, it } from "vitest"
import { expectFailure } from "../../../core/expect-failure.test-kit.ts"
import { channelCredentials, channelSecurityOptions } from "./channel-credentials.ts"
import { serverCredentials } from "./server-credentials.ts"

const HERE = [
  "127.0.0.1:50051",
  "127.8.9.10:0",
  "localhost:50051",
  "[::1]:50051",
  "::1",
  "unix:/run/glovebox.sock",
  "unix-abstract:glovebox",
  "dns:localhost:50051",
  "dns:///localhost:50051",
  "ipv4:127.0.0.1:50051,127.0.0.2:50052",
]
const BEYOND = [
  "0.0.0.0:50051",
  "[::]:50051",
  "10.0.0.7:50051",
  "example.com:50051",
  "127.0.0.1.example.com:50051",
  "localhost.example.com:50051",
  "127.1:50051",
  "[::ffff:10.0.0.7]:50051",
  "ipv4:127.0.0.1:50051,10.0.0.7:50052",
  "dns://8.8.8.8/localhost:50051",
  "",
]

describe("without encryption", () => {
  it.each(HERE)("%s is fine", async (address) => {
    expect((await serverCredentials({}, address))._isSecure()).toBe(false)
    expect((await channelCredentials({}, address))._isSecure()).toBe(false)
  })

  it.each(BEYOND)("%s is refused, unless it is asked for by name", async (address) => {
    const message = /Give tls, or, on a network that you trust, allowPlaintext: true/
    await expectFailure(serverCredentials({}, address), "OPTION_INVALID", message)
    await expectFailure(channelCredentials({}, address), "OPTION_INVALID", message)
    expect((await serverCredentials({ allowPlaintext: true }, address))._isSecure()).toBe(false)
    expect((await channelCredentials({ allowPlaintext: true }, address))._isSecure()).toBe(false)
  })

  it("what is for this machine goes through no proxy", () => {
    expect(channelSecurityOptions({}, "127.0.0.1:50051")).toEqual({ "grpc.enable_http_proxy": 0 })
    expect(channelSecurityOptions({ tls: true }, "example.com:443")).toEqual({})
  })
})

describe("certificates that cannot be used", () => {
  const at = "example.com:50051"

  it.each([
    [
      "no file",
      { cert: "/nonexistent/cert.pem", key: "/nonexistent/key.pem" },
      /tls\.(?:cert|key) cannot be read/,
    ],
    ["a file without PEM", { cert: "package.json", key: "package.json" }, /has no PEM in it/],
    ["a pair that is none", { cert: "-----BEGIN CERTIFICATE-----", key: "-----BEGIN X-----" }, /not valid/],
  ])("are told at the start: %s", async (_name, tls, message) => {
    await expectFailure(serverCredentials({ tls }, at), "OPTION_INVALID", message)
    await expectFailure(channelCredentials({ tls }, at), "OPTION_INVALID", message)
  })

  it("are not shown", async () => {
    const key = "MIGHAgEAMBMGByqGSM49\nsecret"
    const failure = await expectFailure(serverCredentials({ tls: { cert: key, key } }, at), "OPTION_INVALID")
    expect(failure.message).not.toContain("MIGH")
  })
})
