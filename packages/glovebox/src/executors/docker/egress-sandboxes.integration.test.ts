import { type Socket, connect, createServer } from "node:net"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { succeed } from "../../testing/expectations.ts"
import type { CodeBlock } from "../code-block.ts"
import { dockerCommand } from "./docker-command.test-kit.ts"
import type { DockerCommandLineCodeExecutorOptions } from "./docker-options.ts"
import { HAS_NO_DOCKER, docker } from "./docker-subject.test-kit.ts"
import { program } from "./egress-programs.test-kit.ts"
import {
  HOST,
  type TestServer,
  echoServer,
  holdingServer,
  listening,
  reaching,
  sampleBytes,
  sha256,
  webServer,
} from "./egress-servers.test-kit.ts"
import { busyboxRoot } from "./image-files.test-kit.ts"
import { nodeFiles, scratchImage } from "./node-image.test-kit.ts"

const SOCKET = "/var/run/docker.sock"
const WITH_NODE = `glovebox-test/egress-node:${process.pid}`
const WITH_SHELL = `glovebox-test/egress-sh:${process.pid}`

function js(code: string): CodeBlock {
  return { language: "javascript", code }
}

describe.skipIf(HAS_NO_DOCKER)("an allow-list holds in every way a container is handed out:", () => {
  let web: TestServer
  beforeAll(async () => {
    web = await webServer()
  })
  afterAll(async () => web[Symbol.asyncDispose]())

  const both = (): CodeBlock =>
    program(`show(fetch("http://${HOST}:${web.port}/hello")); show(fetch("http://evil.test/")[:3])`)

  async function holds(options: DockerCommandLineCodeExecutorOptions, calls: number): Promise<boolean[]> {
    await using executor = docker({ ...reaching(web.port), ...options })
    await executor.start()
    const pooled: boolean[] = []
    for (let call = 0; call < calls; call += 1) {
      const { stdout, egress, sandbox } = await succeed(executor, both())
      expect(stdout).toBe(`hello from ${HOST}:${web.port}\n403\n`)
      // Of this call alone.
      expect(egress?.map(({ verdict }) => verdict)).toEqual(["allowed", "denied"])
      pooled.push(sandbox.pooled ?? false)
    }
    return pooled
  }

  it("cold", async () => {
    expect(await holds({ pool: false }, 1)).toEqual([false])
  })

  it("from the pool", async () => {
    expect(await holds({ pool: { size: 1 } }, 1)).toEqual([true])
  })

  it("several at once, each with records of its own", async () => {
    await using executor = docker({ ...reaching(web.port), pool: { size: 2 } })
    const results = await Promise.all(
      [0, 1, 2].map(async (number) =>
        succeed(executor, program(`show(fetch("http://host-${number}.test/")[:3])`)),
      ),
    )
    expect(results.map(({ egress }) => egress?.map(({ host }) => host))).toEqual([
      ["host-0.test"],
      ["host-1.test"],
      ["host-2.test"],
    ])
  })

  it("with a new interpreter", async () => {
    expect(await holds({ pool: false, interpreter: "fresh" }, 1)).toEqual([false])
  })

  it("in a session, call after call", async () => {
    expect(await holds({ isolation: "session" }, 3)).toHaveLength(3)
  })

  it("in a session, where a connection ends with the code that made it, whatever the server thinks", async () => {
    await using server = await holdingServer()
    await using executor = docker({ isolation: "session", ...reaching(server.port, { protocol: "tcp" }) })
    const first = await succeed(executor, program(`connect("${HOST}", ${server.port}).sendall(b"four")`))
    expect(first.egress).toMatchObject([{ id: 1, verdict: "allowed", bytesUp: 4 }])
    await server.whenLeft()
    const second = await succeed(executor, program(`show(fetch("http://evil.test/")[:3])`))
    expect(second.egress?.at(-1)).toMatchObject({ id: 2, verdict: "denied" })
  })

  it("in a session, where what a cancelled call did is in the records of the next", async () => {
    await using executor = docker({ isolation: "session", ...reaching(1) })
    const controller = new AbortController()
    const call = executor.executeCodeBlocks(
      [program(`show(fetch("http://evil.test/")[:3]); import time; time.sleep(60)`)],
      { signal: controller.signal, onOutput: () => controller.abort(new Error("enough")) },
    )
    await expect(call).rejects.toThrow("enough")
    const { egress } = await succeed(executor, program(`show(fetch("http://other.test/")[:3])`))
    expect(egress?.map(({ host }) => host)).toEqual(["evil.test", "other.test"])
  })

  it("on an engine that is reached over TCP", async () => {
    const engine = createServer({ allowHalfOpen: true }, (socket: Socket) => {
      const real = connect({ path: SOCKET, allowHalfOpen: true })
      for (const [one, other] of [
        [socket, real],
        [real, socket],
      ] as const) {
        one.on("error", () => other.destroy()).on("close", () => other.destroy())
        one.pipe(other)
      }
    })
    await using remote = await listening(engine)
    const dockerHost = `tcp://127.0.0.1:${remote.port}`
    expect(await holds({ pool: false, dockerHost }, 1)).toEqual([false])
  })

  describe("in images without Python", () => {
    beforeAll(async () => {
      const root = await busyboxRoot()
      await scratchImage(WITH_NODE, [...root, ...(await nodeFiles())])
      await scratchImage(WITH_SHELL, root)
    })
    afterAll(async () => {
      for (const image of [WITH_NODE, WITH_SHELL]) await dockerCommand("rmi", "-f", image).catch(() => "")
    })

    const get = `const http = require("node:http")
const { hostname, port } = new URL(process.env.http_proxy)
function get(url, body = "") {
  return new Promise((resolve, reject) => {
    const headers = { host: new URL(url).host, "content-length": body.length }
    const request = http.request({ hostname, port, path: url, method: body ? "POST" : "GET", headers }, (answer) => {
      const parts = []
      answer.on("data", (part) => parts.push(part))
      answer.on("error", reject)
      answer.on("end", () => resolve([answer.statusCode, Buffer.concat(parts)]))
    })
    request.on("error", reject)
    request.end(body)
  })
}
const { createHash } = require("node:crypto")
const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex")
`

    it("Node carries the connections", async () => {
      await using executor = docker({ image: WITH_NODE, pool: false, ...reaching(web.port) })
      const size = 3_000_000
      const url = `http://${HOST}:${web.port}`
      const { stdout, egress, sandbox } = await succeed(
        executor,
        js(`${get}
async function main() {
  console.log(...(await get("${url}/hello")).map(String))
  console.log(...(await get("http://evil.test/x")).map(String))
  console.log(sha256((await get("${url}/bytes/${size}"))[1]))
  const large = (await get("${url}/bytes/${size}"))[1]
  console.log(String((await get("${url}/upload", large))[1]))
  console.log(Object.keys(require("node:os").networkInterfaces()))
}
main()`),
      )
      const hash = sha256(sampleBytes(size))
      expect(stdout).toBe(`200 hello from ${HOST}:${web.port}
403 evil.test:80 is not in network.allow.
Do without evil.test, or ask for "evil.test:80" to be added to network.allow.

${hash}
${size} ${hash}
[ 'lo' ]
`)
      expect(egress?.map(({ verdict }) => verdict).toSorted()).toEqual([
        "allowed",
        "allowed",
        "allowed",
        "allowed",
        "denied",
      ])
      expect(sandbox.effective?.["network"]).toBe("none")
    })

    it("Node carries half-closed connections, and goes on after a flood of them", async () => {
      await using server = await echoServer()
      await using executor = docker({
        image: WITH_NODE,
        pool: false,
        ...reaching(server.port, { protocol: "tcp" }),
      })
      const { stdout } = await succeed(
        executor,
        js(`const net = require("node:net")
function connect() { return net.connect({ port: 3128, host: "127.0.0.1", allowHalfOpen: true }) }
async function flood() {
  const sockets = Array.from({ length: 1500 }, () => connect().on("error", () => {}))
  await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once("connect", resolve).once("close", resolve))))
  for (const socket of sockets) socket.destroy()
}
flood().then(() => {
  const socket = connect()
  socket.write("CONNECT ${HOST}:${server.port} HTTP/1.1\\r\\nHost: ${HOST}:${server.port}\\r\\n\\r\\n")
  let heard = ""
  socket.on("data", (bytes) => {
    if (heard === "") socket.end("x".repeat(1_000_000))
    heard += bytes
  })
  socket.on("end", () => console.log(heard.split("\\r\\n\\r\\n")[1].length))
})`),
      )
      expect(stdout).toBe("1000000\n")
      await server.whenLeft()
    })

    it("and without Node nothing runs, and the error says what is missing", async () => {
      await using executor = docker({ image: WITH_SHELL, pool: false, ...reaching(web.port) })
      const failure = await expectFailure(
        executor.executeCodeBlocks([{ language: "sh", code: "echo ran" }]),
        "SANDBOX_UNENFORCEABLE",
        /neither python3 nor node.*network: none/,
      )
      expect(failure.message).toContain(WITH_SHELL)
    })
  })
})
