import { createServer } from "node:http"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { eventsOf, succeed } from "../../testing/expectations.ts"
import { type SecureServer, secureServer } from "../../egress/tls-servers.test-kit.ts"
import { HAS_NO_DOCKER, docker } from "./docker-subject.test-kit.ts"
import type { DockerCommandLineCodeExecutorOptions } from "./docker-options.ts"
import { dockerCommand } from "./docker-command.test-kit.ts"
import { busyboxRoot } from "./image-files.test-kit.ts"
import { nodeFiles, scratchImage } from "./node-image.test-kit.ts"
import { type TestServer, listening } from "./egress-servers.test-kit.ts"

const VALUE = "value-that-no-sandbox-sees"
const HOST = "api.test"

/** Says back the headers that it was sent, and remembers the keys. */
const keys: (string | undefined)[] = []
const echo: Parameters<typeof createServer>[1] = ({ headers }, response) => {
  keys.push(headers["x-key"]?.toString())
  response.end(JSON.stringify(headers))
}

/** Looks for a text in all that a program can see: variables, processes, files. */
const LOOK = `
def look(text):
    found = [name for name, value in os.environ.items() if text in value]
    for folder, _, names in [*os.walk("/proc"), *os.walk("/workspace"), *os.walk("/tmp"), *os.walk("/etc"), *os.walk("/dev/shm")]:
        for name in names:
            if name not in ("environ", "cmdline", "maps") and folder.startswith("/proc"): continue
            try:
                with open(os.path.join(folder, name), "rb") as file: data = file.read(2000000)
            except OSError: continue
            if text.encode() in data: found.append(os.path.join(folder, name))
    return found`

const program = (code: string): { language: string; code: string } => ({
  language: "python",
  code: `import json, os, ssl, sys, urllib.request\n${LOOK}
def get(url, **headers):
    try: return json.load(urllib.request.urlopen(urllib.request.Request(url, headers=headers)))
    except OSError as error: return str(getattr(error, "reason", error))
${code}`,
})

describe.skipIf(HAS_NO_DOCKER)("secrets in Docker", () => {
  let web: TestServer
  let secure: SecureServer
  let base: DockerCommandLineCodeExecutorOptions
  beforeAll(async () => {
    web = await listening(createServer(echo))
    secure = await secureServer(echo, { host: HOST })
    base = {
      pool: false,
      secretValues: { API_KEY: VALUE },
      egress: { lookup: async () => ["127.0.0.1"], ca: secure.ca },
      policy: {
        network: {
          allow: [
            { to: `${HOST}:${secure.port}`, intercept: true },
            `${HOST}:${web.port}`,
            `other.test:${web.port}`,
            `other.test:${secure.port}`,
          ],
          allowPrivate: [`127.0.0.1:${web.port}`, `127.0.0.1:${secure.port}`],
        },
        secrets: { API_KEY: { hosts: [`${HOST}:${secure.port}`, `http://${HOST}:${web.port}`] } },
      },
    }
  })
  afterAll(async () => {
    await web[Symbol.asyncDispose]()
    await secure[Symbol.asyncDispose]()
  })

  it("are used by code that has only their placeholders, by HTTP and HTTPS, and never come in", async () => {
    keys.length = 0
    await using executor = docker(base)
    const block = program(`key = os.environ["API_KEY"]
print(get("https://${HOST}:${secure.port}/", **{"X-Key": key})["x-key"] == key)
print(get("http://${HOST}:${web.port}/", **{"X-Key": key})["x-key"] == key)
print(get("http://other.test:${web.port}/", **{"X-Key": key})["x-key"] == key)
print(get("https://other.test:${secure.port}/", **{"X-Key": key}))
open("key.txt", "w").write(key)
print(look("no-sandbox" + "-sees"), key in look(key)[:1] or "API_KEY" in look(key), len(key))`)
    const events = await eventsOf(executor.stream([block]))
    const finished = events.at(-1)
    if (finished?.type !== "finished") throw new Error("it has no end")
    const { stdout, output, egress, artifacts } = finished.result
    const [tls, plain, other, untrusted, rest] = stdout.trim().split("\n")
    expect([tls, plain, other]).toEqual(["True", "True", "True"])
    // Nobody stands between the code and this one, so it sees the server's own certificate.
    expect(untrusted).toContain("CERTIFICATE_VERIFY_FAILED")
    expect(rest).toBe(`[] True ${VALUE.length}`)
    expect(keys).toEqual([VALUE, VALUE, expect.stringMatching(/^gbx_/)])
    expect(
      egress?.map(({ intercepted, secrets, secretsWithheld }) => [intercepted, secrets, secretsWithheld]),
    ).toEqual([
      [true, [{ name: "API_KEY", host: `${HOST}:${secure.port}` }], undefined],
      [undefined, [{ name: "API_KEY", host: `${HOST}:${web.port}` }], undefined],
      [undefined, undefined, ["API_KEY"]],
      [undefined, undefined, undefined],
    ])
    expect(artifacts.map(({ path }) => path)).toEqual(["key.txt"])
    expect(
      `${output}${JSON.stringify(events)}${Buffer.from(artifacts[0]!.content).toString()}`,
    ).not.toContain(VALUE)
  })

  it("keep their placeholders from call to call, and are told to whoever has to know the values", async () => {
    await using executor = docker({ ...base, pool: { size: 1 } })
    const told: unknown[] = []
    executor.onSecret((secret) => told.push(secret))
    const block = program(`try: print(open("key.txt").read() == os.environ["API_KEY"])
except OSError: open("key.txt", "w").write(os.environ["API_KEY"])
print(get("https://${HOST}:${secure.port}/", **{"X-Key": os.environ["API_KEY"]})["host"])`)
    const { sandbox } = await succeed(executor, block)
    const { stdout } = await succeed(executor, block)
    expect(stdout).toBe(`True\n${HOST}:${secure.port}\n`)
    expect(sandbox.pooled).toBe(true)
    expect(told).toEqual([{ name: "API_KEY", value: VALUE, placeholder: expect.stringMatching(/^gbx_/) }])
  })

  it("come with a certificate authority only where TLS is intercepted, beside the system's own", async () => {
    const shown = program(`paths = [name for name, value in os.environ.items() if value.endswith(".pem")]
count = lambda path: open(path).read().count("BEGIN CERTIFICATE")
print(len(paths), count(os.environ["SSL_CERT_FILE"]) - count("/etc/ssl/certs/ca-certificates.crt") if paths else 0)`)
    await using executor = docker(base)
    await using without = docker({ pool: false, network: { allow: [`${HOST}:${web.port}`] } })
    expect((await succeed(executor, shown)).stdout).toBe("9 1\n")
    expect((await succeed(without, shown)).stdout).toBe("0 0\n")
  })

  it("are used in an image with Node and without Python too", async () => {
    const image = `glovebox-test/secrets-node:${process.pid}`
    await scratchImage(image, [...(await busyboxRoot()), ...(await nodeFiles())])
    try {
      keys.length = 0
      await using executor = docker({ ...base, image })
      const { stdout } = await succeed(executor, {
        language: "javascript",
        code: `const { request } = require("node:http")
const [path, headers] = ["${HOST}:${secure.port}", { "x-key": process.env.API_KEY, host: "${HOST}:${secure.port}" }]
request({ host: "127.0.0.1", port: 3128, method: "CONNECT", path, headers: { host: path } }).on("connect", (_answer, socket) => {
  const options = { createConnection: () => require("node:tls").connect({ socket, servername: "${HOST}" }), headers }
  request(options, (answer) => answer.setEncoding("utf8").on("data", (text) => console.log(JSON.parse(text)["x-key"] === process.env.API_KEY))).end()
}).end()`,
      })
      expect([stdout, keys]).toEqual(["true\n", [VALUE]])
    } finally {
      await dockerCommand("rmi", "-f", image).catch(() => "")
    }
  })

  it("leave the sandbox as it is promised", async () => {
    await using executor = docker({ ...base, verify: "claim" })
    expect((await succeed(executor, program("print(6 * 7)"))).stdout).toBe("42\n")
  })

  it("let nothing begin without their values", async () => {
    await using executor = docker({ ...base, secretValues: {} })
    await expect(executor.start()).rejects.toMatchObject({ code: "SECRET_MISSING" })
  })
})
