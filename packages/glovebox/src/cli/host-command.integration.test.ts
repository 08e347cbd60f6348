import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { expectFailure } from "../core/expect-failure.test-kit.ts"
import { agentId } from "../core/index.ts"
import { GrpcWorkerAgentRuntime } from "../runtimes/grpc/index.ts"
import { Certificates } from "../runtimes/grpc/security/certificates.test-kit.ts"
import { AgentsFolder, Done, Work } from "./distributed/agents-folder.test-kit.ts"
import { ServedCommand, startHost } from "./distributed/served-command.test-kit.ts"
import { buildCommand, glovebox } from "./glovebox.test-kit.ts"

let folder: AgentsFolder
let certificates: Certificates

beforeAll(async () => {
  await buildCommand()
  ;[folder, certificates] = await Promise.all([AgentsFolder.make(), Certificates.make()])
})
afterAll(async () => {
  await folder[Symbol.asyncDispose]()
  await certificates[Symbol.asyncDispose]()
})

const TOKENS = `
tokens:
  - { name: workers, token: worker-secret, register: [slow] }
  - { name: clients, token: client-secret, send: [slow] }
`

async function guardedHost(): Promise<{ host: ServedCommand; address: string }> {
  const { cert, key } = certificates.pair("host")
  const tls = ["--tls-cert", cert, "--tls-key", key, "--client-ca", certificates.path("ca")]
  return startHost(...tls, "--tokens", await folder.write("tokens.yaml", TOKENS))
}

const tlsArgs = (): string[] => {
  const { cert, key } = certificates.pair("client")
  return ["--tls-ca", certificates.path("ca"), "--tls-cert", cert, "--tls-key", key]
}

describe("glovebox host", () => {
  it("lets in whom its file names, by TLS, and each for what it may do", async () => {
    const { host, address } = await guardedHost()
    await using _host = host
    await using worker = new ServedCommand(["worker", "agents.mjs", "--host", address, ...tlsArgs()], {
      cwd: folder.path,
      env: { GLOVEBOX_TOKEN: "worker-secret" },
    })
    await worker.said("connected")
    const tls = { ca: certificates.path("ca"), ...certificates.pair("client") }
    await using client = new GrpcWorkerAgentRuntime({ hostAddress: address, tls, token: "client-secret" })
    client.addMessageType(Work)
    client.addMessageType(Done)
    await client.start()
    const until = await folder.write("go", "")
    const reply = await client.send(Work({ until }), agentId("slow", "1"), { expect: Done })
    expect(reply.by).toMatch(/^\d+$/)
    await expectFailure(client.send(Work({ until }), agentId("other", "1")), "HOST_REFUSED")
    host.kill("SIGTERM")
    expect(await host.ended()).toBe(0)
    expect(`${host.stderr}${worker.stderr}`).not.toContain("secret")
  })

  it.each([
    ["no token", {}, /token/],
    ["an unknown token", { GLOVEBOX_TOKEN: "wrong-secret" }, /does not know this token/],
    ["a token for something else", { GLOVEBOX_TOKEN: "client-secret" }, /slow/],
  ])("refuses a worker with %s, in one line", async (_name, env, message) => {
    const { host, address } = await guardedHost()
    await using _host = host
    const args = ["worker", "agents.mjs", "--host", address, ...tlsArgs()]
    const ended = await glovebox(args, "", { GLOVEBOX_TOKEN: "", ...env }, folder.path)
    expect(ended.stderr).toMatch(message)
    expect(ended.stderr).not.toContain("secret")
    expect(ended.stderr.trim().split("\n")).toHaveLength(1)
    expect(ended.code).toBe(1)
  })

  it("refuses a worker without a certificate", async () => {
    const { host, address } = await guardedHost()
    await using _host = host
    const args = ["worker", "agents.mjs", "--host", address, "--tls-ca", certificates.path("ca")]
    const env = { GLOVEBOX_TOKEN: "worker-secret" }
    const ended = await glovebox([...args, "--connect-timeout", "500ms"], "", env, folder.path)
    expect(ended.stderr).toMatch(/cannot be used: TLS: .*alert certificate required\n$/)
    expect(ended.code).toBe(1)
  })

  it("lets pending requests end when it is told to end", async () => {
    const { host, address } = await startHost()
    await using _host = host
    await using worker = new ServedCommand(["worker", "agents.mjs", "--host", address], { cwd: folder.path })
    await worker.said("connected")
    await using client = new GrpcWorkerAgentRuntime({ hostAddress: address })
    client.addMessageType(Work)
    client.addMessageType(Done)
    await client.start()
    const reply = client.send(Work({ until: folder.file("host-go") }), agentId("slow", "1"), { expect: Done })
    await worker.printed("begun")
    host.kill("SIGTERM")
    await host.said("draining")
    await folder.write("host-go", "")
    expect((await reply).by).toMatch(/^\d+$/)
    expect(await host.ended()).toBe(0)
  })

  it("holds no worker that is told to end while it stands still", async () => {
    const { host, address } = await startHost("--grace", "1s")
    await using _host = host
    const args = ["worker", "agents.mjs", "--host", address, "--drain-timeout", "15s"]
    await using worker = new ServedCommand(args, { cwd: folder.path })
    await worker.said("connected")
    host.kill("SIGSTOP")
    worker.kill("SIGTERM")
    expect(await worker.ended()).toBe(0)
  })

  it.each<[string, (taken: string) => readonly string[], number, RegExp]>([
    ["a taken port", (taken) => ["--listen", taken], 1, /cannot listen at 127\.0\.0\.1:\d+.*EADDRINUSE/],
    [
      "the open network",
      () => ["--listen", "0.0.0.0:0"],
      2,
      /--tls-cert and --tls-key; or, .*--allow-plaintext/,
    ],
    ["half of a pair", () => ["--tls-cert", "x"], 2, /--tls-cert and --tls-key go together/],
    ["no certificate", () => ["--tls-cert", "x", "--tls-key", "y"], 2, /cannot be read/],
    ["no tokens", () => ["--tokens", "absent.yaml"], 1, /absent\.yaml cannot be read/],
    ["a size beyond", () => ["--listen", "127.0.0.1:0", "--max-message", "65MiB"], 2, /more than 64 MiB/],
  ])("says in one line what is wrong: %s", async (_name, args, code, message) => {
    const { host, address } = await startHost()
    await using _host = host
    const ended = await glovebox(["host", ...args(address)], "", {}, folder.path)
    expect(ended.stderr).toMatch(message)
    expect(ended.stderr.trim().split("\n")).toHaveLength(1)
    expect(ended.code).toBe(code)
  })
})
