import { createHash } from "node:crypto"
import { once } from "node:events"
import { readFile } from "node:fs/promises"
import { type IncomingMessage, type ServerResponse, createServer as createWebServer } from "node:http"
import { type AddressInfo, type Server, type Socket, createServer } from "node:net"
import { Readable } from "node:stream"
import type { EgressLookup } from "../../egress/index.ts"
import type { PolicyInput } from "../../policy/index.ts"
import { eventually } from "./eventually.test-kit.ts"

/** A server on this machine's loopback, and who is connected to it. */
export interface TestServer extends AsyncDisposable {
  readonly port: number
  /** What is connected now. */
  readonly open: ReadonlySet<Socket>
  /** How many ever were. */
  readonly connected: number
  /** How many bytes it was sent, by all. */
  readonly heard: number
  /** Waits until nobody is, as the kernel sees it: a server that does not read learns of no end. */
  whenLeft(): Promise<void>
}

/** Listens, and ends all its connections with the block that holds it. */
export async function listening(server: Server): Promise<TestServer> {
  const all: Socket[] = []
  const open = new Set<Socket>()
  server.on("connection", (socket: Socket) => {
    all.push(socket)
    open.add(socket)
    socket.on("close", () => open.delete(socket))
    socket.on("error", () => {})
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  return {
    port,
    open,
    get connected() {
      return all.length
    },
    get heard() {
      return all.reduce((sum, { bytesRead }) => sum + bytesRead, 0)
    },
    whenLeft: async () => eventually("all are gone", async () => (await connectedTo(port)) === 0),
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy()
      server.close()
      await once(server, "close")
    },
  }
}

// As the kernel writes TIME_WAIT, CLOSE and LISTEN.
const NOT_CONNECTED = new Set(["06", "07", "0A"])

/** How many connections the kernel has at a port of this machine. */
async function connectedTo(port: number): Promise<number> {
  const lines = (await readFile("/proc/net/tcp", "latin1")).split("\n").slice(1)
  const place = port.toString(16).toUpperCase().padStart(4, "0")
  return lines.filter((line) => {
    const [, local = "", , state = ""] = line.trim().split(/\s+/)
    return local.endsWith(`:${place}`) && !NOT_CONNECTED.has(state)
  }).length
}

/** A server of TCP alone. */
export async function tcpServer(onConnection: (socket: Socket) => void): Promise<TestServer> {
  return listening(createServer({ allowHalfOpen: true }, onConnection))
}

/** A server that only holds what connects to it. */
export async function holdingServer(): Promise<TestServer> {
  return tcpServer((socket) => socket.resume())
}

/** Says back what it is told. */
export async function echoServer(): Promise<TestServer> {
  return tcpServer((socket) => socket.pipe(socket))
}

/** Bytes that are the same each time, and of which no part is like another. */
export function sampleBytes(count: number): Buffer {
  const bytes = Buffer.alloc(count)
  for (let at = 0, state = 1; at + 4 <= count; at += 4) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    bytes.writeUInt32LE(state, at)
  }
  return bytes
}

export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex")
}

const PIECE = Buffer.alloc(64 * 1024, "x")

/**
 * A web server: `/hello`, `/bytes/N` for a sample, `/zeros/N` for as many without holding them, `/upload` which answers
 * with the hash of what it was sent, `/drip` which begins and never ends, `/silent` which never answers, `/move` to another host.
 */
export async function webServer(): Promise<TestServer> {
  return listening(createWebServer({ keepAliveTimeout: 0 }, answer))
}

/** How the web server answers. */
export function answer(request: IncomingMessage, response: ServerResponse): void {
  const [, name = "", count = ""] = (request.url ?? "").split("/")
  switch (name) {
    case "hello":
      response.end(`hello from ${request.headers.host}`)
      return
    case "bytes":
      response.end(sampleBytes(Number(count)))
      return
    case "zeros":
      response.setHeader("content-length", count)
      Readable.from(pieces(Number(count))).pipe(response)
      return
    case "upload":
      void receive(request).then((text) => response.end(text))
      return
    case "drip":
      response.write("begun")
      return
    case "silent":
      return
    case "move":
      response.writeHead(302, { location: "http://elsewhere.test/secret" }).end()
      return
    default:
      response.writeHead(404).end()
  }
}

function* pieces(count: number): Generator<Buffer> {
  for (let left = count; left > 0; left -= PIECE.length) yield PIECE.subarray(0, left)
}

async function receive(request: IncomingMessage): Promise<string> {
  const hash = createHash("sha256")
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    hash.update(chunk)
    length += chunk.length
  }
  return `${length} ${hash.digest("hex")}`
}

/** The name by which sandboxes know what this machine serves. */
export const HOST = "index.test"

const lookup: EgressLookup = async () => ["127.0.0.1"]

type Network = Extract<PolicyInput["network"], { idle?: unknown }>
type Rule = Exclude<NonNullable<Network["allow"]>[number], string>

export interface Reach {
  readonly network: Network
  readonly egress: { readonly lookup: EgressLookup }
}

/** Options that let code reach one port of this machine by a name; `rule` is what more there is to say of it. */
export function reaching(port: number, rule: Omit<Rule, "to"> = {}, network: Network = {}): Reach {
  const to = `${HOST}:${port}`
  return {
    network: {
      allow: [Object.keys(rule).length === 0 ? to : { to, ...rule }],
      allowPrivate: [`127.0.0.1:${port}`],
      ...network,
    },
    egress: { lookup },
  }
}
