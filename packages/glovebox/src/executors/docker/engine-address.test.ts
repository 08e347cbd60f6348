import { createHash } from "node:crypto"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import fc from "fast-check"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { GloveboxError } from "../../core/index.ts"
import { type EngineAddress, type EngineAddressOptions, findEngine } from "./engine-address.ts"

let config = ""

beforeAll(() => {
  config = mkdtempSync(join(tmpdir(), "glovebox-docker-config-"))
})

afterAll(() => rmSync(config, { recursive: true, force: true }))

type Environment = Record<string, string>

async function find(options: EngineAddressOptions = {}, env: Environment = {}): Promise<EngineAddress> {
  return findEngine(options, { DOCKER_CONFIG: config, ...env })
}

/** Files a context as Docker's command does. */
function writeContext(name: string, endpoint: unknown, tls: Record<string, string> = {}): void {
  const id = createHash("sha256").update(name).digest("hex")
  const meta = join(config, "contexts", "meta", id)
  mkdirSync(meta, { recursive: true })
  const file = { Name: name, Metadata: {}, Endpoints: { docker: endpoint } }
  writeFileSync(join(meta, "meta.json"), JSON.stringify(file))
  const folder = join(config, "contexts", "tls", id, "docker")
  mkdirSync(folder, { recursive: true })
  for (const [file, text] of Object.entries(tls)) writeFileSync(join(folder, file), text)
}

describe("findEngine, by an address", () => {
  it("takes a socket, a pipe, loopback and ssh", async () => {
    const forms: [string, Partial<Record<string, unknown>>][] = [
      ["unix:///var/run/docker.sock", { kind: "socket", path: "/var/run/docker.sock" }],
      ["npipe:////./pipe/docker_engine", { kind: "socket", path: "//./pipe/docker_engine" }],
      ["tcp://127.0.0.1:2375", { kind: "tcp", host: "127.0.0.1", port: 2375, tls: undefined }],
      ["tcp://localhost", { kind: "tcp", host: "localhost", port: 2375 }],
      ["tcp://127.8.9.1:1", { kind: "tcp", host: "127.8.9.1", port: 1 }],
      ["http://localhost:8080", { kind: "tcp", host: "localhost", port: 8080 }],
      ["tcp://[::1]:2375", { kind: "tcp", host: "::1", port: 2375 }],
      ["https://engine.example:2376", { kind: "tcp", host: "engine.example", port: 2376, tls: {} }],
      ["https://engine.example", { kind: "tcp", host: "engine.example", port: 2376, tls: {} }],
      ["ssh://me@build.example", { kind: "ssh", target: "me@build.example", port: undefined }],
      ["ssh://build.example:2222", { kind: "ssh", target: "build.example", port: "2222" }],
      ["ssh://a%40b@build.example", { kind: "ssh", target: "a@b@build.example" }],
    ]
    for (const [url, expected] of forms) {
      expect(await find({ dockerHost: url })).toMatchObject({ ...expected, url })
    }
  })

  it("keeps a port that another protocol has by default", async () => {
    expect(await find({ dockerHost: "tcp://127.0.0.1:80" })).toMatchObject({ port: 80 })
    expect(await find({ dockerHost: "https://engine.example:443" })).toMatchObject({ port: 443 })
    expect(await find({ dockerHost: "ssh://host:22" })).toMatchObject({ port: "22" })
  })

  it("gives ssh an IPv6 address as ssh takes it, without brackets", async () => {
    expect(await find({ dockerHost: "ssh://me@[fe80::1]:2222" })).toMatchObject({
      target: "me@fe80::1",
      port: "2222",
    })
  })

  it("refuses what is no address", async () => {
    const wrong = [
      "",
      "docker",
      "/var/run/docker.sock",
      "unix://",
      "tcp://",
      "ftp://host",
      "file:///etc/passwd",
      "unix:///a b",
      "unix:///a\nb",
      "unix:///a\0b",
      "tcp://127.0.0.1:99999",
      "tcp://127.0.0.1:x",
      "tcp://:2375",
      "ssh://",
      "ssh:///path",
      "UNIX:///x",
    ]
    for (const dockerHost of wrong) {
      await expectFailure(find({ dockerHost }), "OPTION_INVALID", /engine|names no host/)
    }
  })

  it("refuses an ssh address that ssh would read as an option, or that holds a password", async () => {
    const wrong = [
      "ssh://-oProxyCommand=x",
      "ssh://-oProxyCommand=x/",
      "ssh://me@-oProxyCommand=x",
      "ssh://-oProxyCommand=x@host",
      "ssh://%2DoProxyCommand=x@host",
      "ssh://%2d%6fProxyCommand=x",
      "ssh://me:secret@host",
      "ssh://%ff@host",
    ]
    for (const dockerHost of wrong) {
      const error = await expectFailure(find({ dockerHost }), "OPTION_INVALID")
      expect(error.message).not.toContain("secret")
    }
  })

  it("never fails but with a typed error, and never names an option to ssh, whatever is written", async () => {
    const scheme = fc.constantFrom("ssh://", "tcp://127.0.0.1", "unix://", "https://", "")
    const part = fc.constantFrom("-", "o", "@", "%", "2D", "ff", ":", "[", "]", "/", "1", "a", "=", "?", "#")
    const rest = fc.array(part, { maxLength: 12 }).map((parts) => parts.join(""))
    await fc.assert(
      fc.asyncProperty(scheme, rest, async (start, end) => {
        const found = await find({ dockerHost: start + end }).then(
          (address) => (address.kind === "ssh" ? address.target : ""),
          (error: unknown) => (GloveboxError.is(error, "OPTION_INVALID") ? "" : String(error)),
        )
        expect(found).not.toMatch(/^-|@-|Error/)
      }),
      { numRuns: 80 },
    )
  })
})

describe("findEngine, TLS", () => {
  it("refuses plain tcp beyond loopback, in every way to write it", async () => {
    const hosts = [
      "192.168.1.5:2375",
      "engine.example",
      "localhost.example.com",
      "127.0.0.1.example.com",
      "0.0.0.0:2375",
      "[fe80::1]:2375",
      "[::]:2375",
      "127.0.0.1@evil.example",
    ]
    for (const host of hosts) {
      for (const scheme of ["tcp", "http"]) {
        await expectFailure(
          find({ dockerHost: `${scheme}://${host}` }),
          "OPTION_INVALID",
          /no TLS|password|user/,
        )
      }
    }
  })

  it("takes plain tcp where it is asked for by name", async () => {
    const options = { dockerHost: "tcp://10.0.0.1", dangerouslyAllowPlaintext: true }
    expect(await find(options)).toMatchObject({ host: "10.0.0.1", port: 2375, tls: undefined })
  })

  it("takes certificates as given, or from the folder of DOCKER_CERT_PATH when they are to be used", async () => {
    const tls = { ca: "CA", cert: "CERT", key: "KEY" }
    expect(await find({ dockerHost: "tcp://h", tls })).toMatchObject({ port: 2376, tls })
    const folder = join(config, "certificates")
    mkdirSync(folder, { recursive: true })
    for (const [name, text] of Object.entries(tls)) writeFileSync(join(folder, `${name}.pem`), text)
    const env = { DOCKER_TLS_VERIFY: "1", DOCKER_CERT_PATH: folder }
    expect(await find({ dockerHost: "tcp://h" }, env)).toMatchObject({ port: 2376, tls })
    expect(await find({}, { ...env, DOCKER_HOST: "tcp://h:9999" })).toMatchObject({ port: 9999, tls })
    await expectFailure(find({ dockerHost: "tcp://h" }, { DOCKER_CERT_PATH: folder }), "OPTION_INVALID")
    const other = { ca: "OTHER" }
    expect(await find({ dockerHost: "tcp://h", tls: other }, env)).toMatchObject({ tls: other })
  })

  it("uses TLS with the system's authorities when no file is there", async () => {
    const env = { DOCKER_TLS_VERIFY: "1", DOCKER_CERT_PATH: join(config, "missing") }
    expect(await find({ dockerHost: "tcp://h" }, env)).toMatchObject({ tls: {} })
  })
})

describe("findEngine, by the environment and contexts", () => {
  it("prefers the option, then DOCKER_HOST, then DOCKER_CONTEXT, then the current context", async () => {
    writeContext("remote", { Host: "ssh://remote.example", SkipTLSVerify: false })
    writeContext("other", { Host: "ssh://other.example" })
    writeFileSync(join(config, "config.json"), JSON.stringify({ currentContext: "remote", auths: {} }))
    const env = { DOCKER_HOST: "ssh://host.example", DOCKER_CONTEXT: "other" }
    const target = async (options: EngineAddressOptions, variables: Environment): Promise<unknown> =>
      ((await find(options, variables)) as { target?: string }).target
    expect(await target({ dockerHost: "ssh://option.example" }, env)).toBe("option.example")
    expect(await target({ dockerContext: "remote" }, env)).toBe("remote.example")
    expect(await target({}, env)).toBe("host.example")
    expect(await target({}, { DOCKER_CONTEXT: "other" })).toBe("other.example")
    expect(await target({}, {})).toBe("remote.example")
    expect(await target({}, { DOCKER_HOST: "", DOCKER_CONTEXT: "" })).toBe("remote.example")
    expect(await find({}, { DOCKER_CONTEXT: "default" })).toMatchObject({ kind: "socket" })
    rmSync(join(config, "config.json"))
  })

  it("uses the local engine when nothing is said, but does not guess at a damaged configuration", async () => {
    expect(await find()).toMatchObject({ kind: "socket", path: expect.stringMatching(/docker/) })
    writeFileSync(join(config, "config.json"), "{")
    await expectFailure(find(), "OPTION_INVALID", /config\.json is not JSON/)
    writeFileSync(join(config, "config.json"), "null")
    expect(await find()).toMatchObject({ kind: "socket" })
    rmSync(join(config, "config.json"))
  })

  it("takes a context's certificates, and refuses one that skips their check", async () => {
    writeContext(
      "tls",
      { Host: "tcp://engine.example:2376", SkipTLSVerify: false },
      { "ca.pem": "CA", "cert.pem": "C", "key.pem": "K" },
    )
    expect(await find({ dockerContext: "tls" })).toMatchObject({
      kind: "tcp",
      tls: { ca: "CA", cert: "C", key: "K" },
    })
    expect(await find({ dockerContext: "tls", tls: { ca: "MINE" } })).toMatchObject({ tls: { ca: "MINE" } })
    writeContext("skips", { Host: "tcp://engine.example:2376", SkipTLSVerify: true }, { "ca.pem": "CA" })
    await expectFailure(find({ dockerContext: "skips" }), "OPTION_INVALID", /skips the check/)
  })

  it("refuses a context that is not there, names no engine, or is plain tcp beyond loopback", async () => {
    writeContext("empty", {})
    writeContext("plain", { Host: "tcp://10.0.0.1:2375", SkipTLSVerify: false })
    await expectFailure(find({ dockerContext: "missing" }), "OPTION_INVALID", /no Docker context "missing"/)
    await expectFailure(find({ dockerContext: "../../etc" }), "OPTION_INVALID", /no Docker context/)
    await expectFailure(find({ dockerContext: "empty" }), "OPTION_INVALID", /names no engine/)
    await expectFailure(find({ dockerContext: "plain" }), "OPTION_INVALID", /no TLS/)
  })
})
