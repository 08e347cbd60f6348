import { type Socket as DatagramSocket, createSocket } from "node:dgram"
import { once } from "node:events"
import { type AddressInfo, type Server, createServer } from "node:net"
import { networkInterfaces } from "node:os"
import type { LabDns, LabListeners } from "../probes/index.ts"

/** The addresses of this machine that others could use. */
function ownAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  return all
    .map(({ address }) => address)
    .filter((address) => !address.startsWith("fe80:"))
    .toSorted()
}

/** Listens at every address of this machine, by TCP and UDP, and keeps who came. */
export async function listenEverywhere(token: string): Promise<LabListeners> {
  const arrivals: string[] = []
  const targets: [kind: "tcp" | "udp", address: string, port: number][] = []
  const closers: (() => void)[] = []
  for (const address of ownAddresses()) {
    const server = createServer((socket) => {
      arrivals.push(`tcp ${address}`)
      socket.on("error", () => {})
      socket.end("!")
    })
    const udp = createSocket(address.includes(":") ? "udp6" : "udp4")
    udp.on("message", (message) => {
      if (message.includes(token)) arrivals.push(`udp ${address}`)
    })
    closers.push(
      () => server.close(),
      () => udp.close(),
    )
    const [tcpPort, udpPort] = await Promise.all([listen(server, address), bind(udp, address, 0)])
    if (tcpPort !== undefined) targets.push(["tcp", address, tcpPort])
    if (udpPort !== undefined) targets.push(["udp", address, udpPort])
  }
  return { targets, arrivals: () => arrivals, [Symbol.asyncDispose]: async () => closeAll(closers) }
}

async function listen(server: Server, address: string): Promise<number | undefined> {
  server.on("error", () => {})
  server.listen(0, address)
  return (await settles(server)) ? (server.address() as AddressInfo).port : undefined
}

async function bind(socket: DatagramSocket, address: string, port: number): Promise<number | undefined> {
  socket.on("error", () => {})
  socket.bind(port, address)
  return (await settles(socket)) ? socket.address().port : undefined
}

async function settles(one: Server | DatagramSocket): Promise<boolean> {
  try {
    await once(one, "listening")
    return true
  } catch {
    return false
  }
}

function closeAll(closers: readonly (() => void)[]): void {
  for (const close of closers) {
    try {
      close()
    } catch {
      // It never listened.
    }
  }
}

const HEADER_BYTES = 12
const NAME_ERROR = 0x8183

const NAME_PORT = 53

/** Listens where names are asked for, at these addresses; undefined where that is not to be had. */
export async function listenForNames(addresses: readonly string[]): Promise<LabDns | undefined> {
  const asked: string[] = []
  const servers: [address: string, port: number][] = []
  const closers: (() => void)[] = []
  // Port 53 may be another's; at one of its own a question that is sent straight there is heard all the same.
  for (const [address, wanted] of addresses.flatMap((one) => [
    [one, NAME_PORT] as const,
    [one, 0] as const,
  ])) {
    const socket = createSocket(address.includes(":") ? "udp6" : "udp4")
    socket.on("message", (question, from) => {
      asked.push(question.toString("latin1"))
      if (question.length < HEADER_BYTES) return
      // At once, so that nobody waits: there is no such name.
      const answer = Buffer.from(question)
      answer.writeUInt16BE(NAME_ERROR, 2)
      socket.send(answer, from.port, from.address)
    })
    closers.push(() => socket.close())
    const port = await bind(socket, address, wanted)
    if (port !== undefined) servers.push([address, port])
  }
  if (servers.length === 0) {
    closeAll(closers)
    return undefined
  }
  return { servers, asked: () => asked, [Symbol.asyncDispose]: async () => closeAll(closers) }
}

/** A socket without a file, which goes by the network's namespace; undefined where there are none. */
export async function listenAbstractly(name: string): Promise<AsyncDisposable | undefined> {
  if (process.platform !== "linux") return undefined
  const server = createServer((socket) => {
    socket.on("error", () => {})
    socket.end("!")
  })
  server.on("error", () => {})
  server.listen(`\0${name}`)
  if (!(await settles(server))) return undefined
  return { [Symbol.asyncDispose]: async () => void server.close() }
}
