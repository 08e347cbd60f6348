import { inside, lab } from "./define-probe.ts"
import { type Finding, allowed, blocked } from "./finding.ts"
import type { Lab } from "./lab.ts"
import type { Probe, Watch } from "./probe.ts"
import { engineNetwork, filtered, unlessGranted, withoutNetwork } from "./promises.ts"
import { ALL_POWERS } from "./weakening.ts"

// Nothing is sent: a datagram socket that is connected only asks for the way. Those for documentation stand for all others.
const PUBLIC = ["192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1"]
const METADATA = ["169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16", "fd00:ec2::254"]
const NEIGHBOURS = [
  "172.17.0.1",
  "172.18.0.1",
  "10.0.0.1",
  "192.168.65.1",
  "192.168.65.254",
  "192.168.0.1",
  "10.88.0.1",
]

/** Ways out, of which none is to be there. */
export const NETWORK_PROBES: readonly Probe[] = [
  inside("network", {
    id: "net.interfaces",
    title: "find a network interface beside the loopback",
    why: "what is not there needs no firewall",
    attack: "interfaces",
    expects: withoutNetwork,
    weakened: ["network-bridge"],
    quick: true,
  }),
  inside("network", {
    id: "net.public",
    title: "find a way to public addresses, IPv4 and IPv6",
    why: "data leaves by it",
    attack: "routes",
    given: () => ({ addresses: PUBLIC }),
    expects: withoutNetwork,
    weakened: ["network-bridge"],
    quick: true,
  }),
  inside("network", {
    id: "net.metadata",
    title: "find a way to the metadata services of clouds",
    why: "they give credentials to whoever asks",
    attack: "routes",
    given: () => ({ addresses: METADATA }),
    expects: withoutNetwork,
    weakened: ["network-bridge"],
    quick: true,
  }),
  inside("network", {
    id: "net.private",
    title: "find a way to gateways and private networks",
    why: "services there trust whoever can reach them (CVE-2025-9074)",
    attack: "routes",
    given: () => ({ addresses: NEIGHBOURS }),
    expects: withoutNetwork,
    weakened: ["network-bridge"],
    quick: true,
  }),
  inside("network", {
    id: "net.host",
    title: "send a word to listeners at every address of this machine, by TCP and UDP",
    why: "services of the host trust its own addresses",
    expects: (context) => (context.facts.isLocal ? withoutNetwork(context) : undefined),
    weakened: ["network-bridge"],
    quick: true,
    attack: "reach",
    seconds: 60,
    watch: watchHost,
  }),
  inside("network", {
    id: "net.names",
    title: "ask for a name: of the resolver, and of servers at this machine's addresses",
    why: "a name can carry data out, one label at a time, where nothing else gets through",
    expects: (context) => (engineNetwork(context) === undefined ? "BLOCKED" : undefined),
    weakened: ["network-bridge"],
    quick: true,
    attack: "names",
    seconds: 60,
    watch: watchNames,
  }),
  inside("network", {
    id: "net.raw",
    title: "open a raw socket",
    why: "it sends what no firewall expects",
    attack: "raw_sockets",
    expects: unlessGranted("NET_RAW"),
    weakened: ALL_POWERS,
    quick: true,
  }),
  inside("network", {
    id: "net.frames",
    title: "open a socket for whole frames",
    why: "it sees and forges what others send",
    attack: "packet_socket",
    expects: filtered("NET_RAW"),
    weakened: ALL_POWERS,
  }),
  inside("network", {
    id: "net.make-interface",
    title: "make an interface, or change one",
    why: "a way out begins with one",
    attack: "make_interface",
    expects: unlessGranted("NET_ADMIN"),
    weakened: ALL_POWERS,
  }),
  inside("network", {
    id: "net.agent-port",
    title: "find a port at which something in the sandbox takes orders",
    why: "an agent with a port can be told what to do by the code",
    attack: "listening",
    given: ({ facts }) => ({ expected: facts.proxyPort === undefined ? [] : [facts.proxyPort] }),
    expects: (context) => (engineNetwork(context) === "host" ? undefined : "BLOCKED"),
    // A kernel of Jupyter's listens for its own children, at a port of its loopback.
    tiers: ["docker", "bubblewrap"],
    planted: () => ({ plant: true }),
    quick: true,
  }),
  lab("network", {
    id: "net.neighbour",
    title: "reach another sandbox that listens at all its addresses",
    why: "sandboxes of different owners stand beside each other",
    tiers: ["docker", "jupyter"],
    expects: (context) => (engineNetwork(context) === "bridge" ? "ALLOWED" : withoutNetwork(context)),
    weakened: ["network-bridge"],
    run: reachNeighbour,
  }),
]

async function watchHost(one: Lab): Promise<Watch> {
  const { token } = one
  const listeners = await one.listen()
  return {
    ...listeners,
    given: { targets: listeners.targets, token },
    judge: (found) => {
      const arrivals = listeners.arrivals()
      if (arrivals.length > 0) return allowed(`heard: ${arrivals.join(", ")}`)
      // A datagram that was sent and heard by nobody has reached nothing here.
      const isSent = found.observed === "ALLOWED" && found.evidence.startsWith("udp")
      if (found.observed !== "BLOCKED" && !isSent) return found
      return blocked(`${listeners.targets.length} listeners heard nothing; ${found.evidence}`)
    },
  }
}

async function watchNames(one: Lab): Promise<Watch> {
  const { token } = one
  const dns = await one.listenDns()
  return {
    ...dns,
    given: {
      name: `${token}.glovebox.invalid`,
      servers: [...(dns?.servers ?? []), ["127.0.0.11", 53]],
    },
    judge: (found) => {
      const asked = dns?.asked().filter((text) => text.includes(token)) ?? []
      if (asked.length > 0) return allowed(`a server heard the question ${asked.length} times`)
      if (found.observed !== "BLOCKED") return found
      const heard = dns
        ? `servers at ${dns.servers.map(([address, port]) => `${address}:${port}`).join(", ")} heard nothing`
        : "no server could listen here"
      return blocked(`${heard}; ${found.evidence}`)
    },
  }
}

const ADDRESSES = `import socket, struct, fcntl
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
    for _, name in socket.if_nameindex():
        try: print(socket.inet_ntoa(fcntl.ioctl(one, 0x8915, struct.pack("256s", name.encode()))[20:24]))
        except OSError: pass`
const ATTEMPTS = 20

async function reachNeighbour(one: Lab): Promise<Finding> {
  await using first = one.open({ isolation: "session" })
  const { stdout } = await first.run(ADDRESSES)
  const addresses = stdout.split("\n").filter((line) => line !== "" && !line.startsWith("127."))
  if (addresses.length === 0) return blocked("the other has no address but its loopback")
  await using second = one.open({ isolation: "session" })
  const port = 18_000 + (Number.parseInt(one.token.slice(0, 3), 16) % 1000)
  const targets = addresses.map((address) => ["tcp", address, port])
  const over = new AbortController()
  const serving = first.attack("serve", { port, seconds: 8 }, 10).finally(() => over.abort())
  const found = await reachWhile(over.signal, async () =>
    second.attack("reach", { targets, token: one.token }, 10),
  )
  const heard = await serving
  return heard.observed === "ALLOWED" ? allowed(`${heard.evidence} at ${addresses.join(", ")}`) : found
}

// It may not listen yet.
async function reachWhile(over: AbortSignal, reach: () => Promise<Finding>): Promise<Finding> {
  for (let attempt = 1; ; attempt += 1) {
    const found = await reach()
    if (found.observed === "ALLOWED" || over.aborted || attempt >= ATTEMPTS) return found
  }
}
