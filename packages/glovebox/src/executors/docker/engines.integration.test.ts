import { execFile } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { type AddressInfo, type Server, type Socket, connect, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createServer as createTlsServer } from "node:tls"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { begin, succeed } from "../../testing/expectations.ts"
import { programsIn } from "../../testing/programs.ts"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { HAS_NO_DOCKER, docker } from "./docker-subject.test-kit.ts"

const run = promisify(execFile)
const { print, wait, write, show } = programsIn(["python"])
const SOCKET = "/var/run/docker.sock"
const SCRIPT = fileURLToPath(new URL("../../../../../scripts/engine", import.meta.url))
const isRoot = process.getuid?.() === 0

interface Gate extends AsyncDisposable {
  readonly port: number
}

// Passes each connection on to the real engine, as an engine that listens on TCP would take it.
async function gate(server: Server): Promise<Gate> {
  const open = new Set<Socket>()
  server.on("connection", (socket: Socket) => open.add(socket))
  server.on("tlsClientError", (_error: Error, socket: Socket) => socket.destroy())
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy()
      server.close()
      await once(server, "close")
    },
  }
}

function passOn(socket: Socket): void {
  const engine = connect({ path: SOCKET, allowHalfOpen: true })
  socket.on("error", () => engine.destroy())
  engine.on("error", () => socket.destroy())
  socket.on("close", () => engine.destroy())
  socket.pipe(engine)
  engine.pipe(socket)
}

describe.skipIf(HAS_NO_DOCKER)("an engine over TCP", () => {
  let folder = ""
  const read = (name: string): string => readFileSync(join(folder, name), "utf8")

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "gb-tls-"))
    const openssl = async (...args: string[]): Promise<unknown> => run("openssl", args, { cwd: folder })
    const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    for (const authority of ["ca", "other-ca"]) {
      await openssl(
        "req",
        "-x509",
        ...key,
        "-keyout",
        `${authority}-key.pem`,
        "-out",
        `${authority}.pem`,
        "-days",
        "2",
        "-subj",
        `/CN=${authority}`,
      )
    }
    for (const [name, authority] of [
      ["server", "ca"],
      ["client", "ca"],
      ["stranger", "other-ca"],
    ] as const) {
      await openssl(
        "req",
        ...key,
        "-keyout",
        `${name}-key.pem`,
        "-out",
        `${name}.csr`,
        "-subj",
        `/CN=${name}`,
        "-addext",
        "subjectAltName=IP:127.0.0.1",
      )
      await openssl(
        "x509",
        "-req",
        "-in",
        `${name}.csr`,
        "-CA",
        `${authority}.pem`,
        "-CAkey",
        `${authority}-key.pem`,
        "-CAcreateserial",
        "-out",
        `${name}.pem`,
        "-days",
        "2",
        "-copy_extensions",
        "copy",
      )
    }
  })
  afterAll(async () => rm(folder, { recursive: true, force: true }))

  it("on loopback runs code, brings files back and takes an abort", async () => {
    await using plain = await gate(createServer({ allowHalfOpen: true }, passOn))
    await using executor = docker({ dockerHost: `tcp://127.0.0.1:${plain.port}` })
    await succeed(executor, write("file", "over tcp"))
    expect((await succeed(executor, show("file"))).stdout).toBe("over tcp")
    const controller = new AbortController()
    const { result, spoke } = begin(executor, [wait("on")], { signal: controller.signal })
    await spoke
    controller.abort(new Error("enough"))
    await expect(result).rejects.toThrow("enough")
  })

  it("with TLS runs code, and both sides prove who they are", async () => {
    const server = createTlsServer(
      {
        cert: read("server.pem"),
        key: read("server-key.pem"),
        ca: read("ca.pem"),
        requestCert: true,
        rejectUnauthorized: true,
        allowHalfOpen: true,
      },
      passOn,
    )
    await using secure = await gate(server)
    const dockerHost = `tcp://127.0.0.1:${secure.port}`
    const own = { ca: read("ca.pem"), cert: read("client.pem"), key: read("client-key.pem") }
    await using executor = docker({ dockerHost, tls: own })
    await succeed(executor, write("file", "over tls"))
    expect((await succeed(executor, show("file"))).stdout).toBe("over tls")
    await using distrustful = docker({ dockerHost, tls: { ...own, ca: read("other-ca.pem") } })
    await expectFailure(distrustful.executeCodeBlocks([print("x")]), "ENGINE_UNAVAILABLE")
    await using stranger = docker({
      dockerHost,
      tls: { ca: read("ca.pem"), cert: read("stranger.pem"), key: read("stranger-key.pem") },
    })
    await expectFailure(stranger.executeCodeBlocks([print("x")]), "ENGINE_UNAVAILABLE")
  })

  it("that drops every connection in the middle of a run is a typed error, and the next call works", async () => {
    const open = new Set<Socket>()
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      open.add(socket)
      passOn(socket)
    })
    await using plain = await gate(server)
    await using executor = docker({ dockerHost: `tcp://127.0.0.1:${plain.port}` })
    const { result, spoke } = begin(executor, [wait("on")])
    const failure = expectFailure(result, "SANDBOX_LOST")
    await spoke
    for (const socket of open) socket.destroy()
    await failure
    expect((await succeed(executor, print("fine"))).stdout).toBe("fine")
  })
})

describe.skipIf(HAS_NO_DOCKER || !isRoot)("an engine that ends", () => {
  let folder = ""
  let env: NodeJS.ProcessEnv = {}
  const engine = async (...args: string[]): Promise<string> => {
    const { stdout } = await run(SCRIPT, args, { env })
    return stdout
  }

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "gb-engine-"))
    const { DOCKER_HOST: _host, DOCKER_CONTEXT: _context, ...rest } = process.env
    env = { ...rest, GLOVEBOX_ENGINE_STATE: join(folder, "state") }
    await engine("--json")
  })
  afterAll(async () => {
    await engine("stop").catch(() => "")
    await rm(folder, { recursive: true, force: true })
  })

  it("in the middle of a run is a typed error; while it is away calls say so; when it is back they work", async () => {
    await using executor = docker({ dockerHost: `unix://${join(folder, "state/docker.sock")}` })
    await succeed(executor, write("file", "kept"))
    const { result, spoke } = begin(executor, [wait("on")])
    const failure = expectFailure(result, "SANDBOX_LOST")
    await spoke
    const pid = Number(await readFile(join(folder, "state/docker.pid"), "utf8"))
    process.kill(pid, "SIGKILL")
    await failure
    await expectFailure(executor.executeCodeBlocks([print("x")]), "ENGINE_UNAVAILABLE")
    await engine("--json")
    expect((await succeed(executor, show("file"))).stdout).toBe("kept")
  })
})
