import { CONTAINERS, inside, lab } from "./define-probe.ts"
import { type Finding, allowed, failed, inconclusive } from "./finding.ts"
import type { Lab } from "./lab.ts"
import type { Probe } from "./probe.ts"
import { engineNetwork, filtered } from "./promises.ts"

const SERVICES = [
  "/var/run/docker.sock",
  "/run/docker.sock",
  "/run/podman/podman.sock",
  "/run/containerd/containerd.sock",
  "/run/dbus/system_bus_socket",
  "/run/systemd/private",
  "/run/user/1000/bus",
  "/tmp/.X11-unix/X0",
  "/run/snapd.socket",
  "/run/crio/crio.sock",
]

/** Ways to other processes of the machine that are no network. */
export const SOCKET_PROBES: readonly Probe[] = [
  inside("sockets", {
    id: "sockets.engine",
    title: "reach the sockets of engines, of D-Bus and of X",
    why: "who speaks to the engine is root of the host",
    attack: "service_sockets",
    given: () => ({ paths: SERVICES }),
    weakened: ["root-user", "all-capabilities", "docker-socket"],
    quick: true,
  }),
  inside("sockets", {
    id: "sockets.files",
    title: "find any socket in the file system",
    why: "a file system that is read-only does not keep a socket from answering",
    attack: "socket_files",
    // A kernel of Jupyter's is spoken to by sockets of its own.
    given: ({ facts }) => ({ known: facts.tier === "jupyter" ? ["/tmp/"] : [] }),
    expects: ({ policy }) => (policy.mounts.length > 0 ? undefined : "BLOCKED"),
    weakened: ["docker-socket"],
  }),
  inside("sockets", {
    id: "sockets.families",
    title: "open sockets of unusual kinds: ALG, VSOCK, CAN, XDP, generic netlink",
    why: "programs do not need them, and flaws of kernels are there",
    attack: "odd_families",
    expects: filtered(),
    weakened: ["seccomp-unconfined"],
    quick: true,
  }),
  inside("sockets", {
    id: "sockets.abstract",
    title: "reach a socket of the host that has no file",
    why: "no mount hides it: it goes by the network's namespace",
    expects: (context) => {
      if (!context.facts.isLocal) return undefined
      return engineNetwork(context) === "host" ? "ALLOWED" : "BLOCKED"
    },
    weakened: ["network-host"],
    attack: "abstract_socket",
    watch: async (one) => {
      const socket = await one.listenAbstract(one.token)
      const given = { name: one.token }
      return socket
        ? { given, ...socket }
        : { given, judge: () => inconclusive("this machine has no such sockets") }
    },
  }),
  lab("sockets", {
    id: "sockets.shared-memory",
    title: "find what another sandbox left in shared memory, at the same time",
    why: "two that share memory can speak, and read each other's secrets",
    tiers: CONTAINERS,
    weakened: ["host-ipc"],
    run: shareMemory,
  }),
]

async function shareMemory(one: Lab): Promise<Finding> {
  const given = { key: Number.parseInt(one.token.slice(0, 6), 16) + 1, token: one.token }
  await using first = one.open({ isolation: "session" })
  await using second = one.open({ isolation: "session" })
  const left = await first.attack("leave_shared", given)
  if (left.observed !== "ALLOWED") return failed(`nothing could be left: ${left.evidence}`)
  const found = await second.attack("find_shared", given)
  // With the host's own memory it would stay.
  await first.attack("clear_shared", given)
  return found.observed === "ALLOWED" ? allowed(found.evidence) : found
}
