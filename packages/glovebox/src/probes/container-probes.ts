import { WORKSPACE } from "../policy/workspace-folder.ts"
import { CONTAINERS, inside, lab } from "./define-probe.ts"
import { allowed, blocked, inconclusive } from "./finding.ts"
import type { Lab } from "./lab.ts"
import type { Probe, ProbeContext } from "./probe.ts"
import { engineNetwork } from "./promises.ts"

const PASSING_ON = "9 1 0:1 / /planted rw shared:1 - tmpfs tmpfs rw"
const GONE_WITHIN_MS = 5_000
const LOOK_EVERY_MS = 50

/** What an engine or an image would add to a container that is not told otherwise. */
export const CONTAINER_PROBES: readonly Probe[] = [
  inside("filesystem", {
    id: "fs.image-volumes",
    title: "fill places that the image declares as volumes",
    why: "the engine makes them writable, on its own disk and without bound",
    attack: "fill_volumes",
    given: (context) => ({ places: uncovered(context), most: 1024 ** 2 }),
    expects: (context) => (uncovered(context).length === 0 ? undefined : "BLOCKED"),
    planted: () => ({ places: ["/tmp"] }),
    tiers: CONTAINERS,
    quick: true,
  }),
  inside("filesystem", {
    id: "fs.host-workspace",
    title: "have a workspace that is a folder of the host",
    why: "what code plants there, such as a link, the host's own programs follow",
    attack: "kept_on_disk",
    given: () => ({ place: WORKSPACE }),
    expects: ({ policy }) =>
      policy.mounts.some(({ target }) => isIn(WORKSPACE, target)) ? undefined : "BLOCKED",
    // The engine mounts a file of the host's there.
    planted: () => ({ place: "/etc/hosts" }),
    tiers: CONTAINERS,
    quick: true,
  }),
  inside("filesystem", {
    id: "fs.shared-mounts",
    title: "find a mount that passes on what is mounted beneath it",
    why: "what the host mounts later would appear in the sandbox, or the other way round",
    attack: "shared_mounts",
    given: ({ policy }) => ({ places: policy.mounts.map(({ target }) => target) }),
    planted: () => ({ planted: PASSING_ON, places: ["/planted"] }),
    expects: ({ policy, facts }) =>
      facts.hasOwnKernel || policy.mounts.length === 0 ? undefined : "BLOCKED",
    tiers: CONTAINERS,
    quick: true,
  }),
  inside("kernel", {
    id: "kernel.foreign-programs",
    title: "find programs that the image starts by itself: its entry point, its health check",
    why: "they run beside the code, and nobody asked for them",
    attack: "foreign_programs",
    // A kernel of Jupyter's has processes of its own.
    tiers: ["docker"],
    planted: () => ({ plant: true }),
    quick: true,
  }),
  inside("network", {
    id: "net.host-names",
    title: "find names of other machines in /etc/hosts",
    why: "they tell of the host's network, and lead there",
    attack: "host_names",
    // The host's own list is there then.
    expects: (context) => (engineNetwork(context) === "host" ? undefined : "BLOCKED"),
    // Without a network the engine writes none.
    weakened: ["network-bridge", "extra-host"],
    tiers: CONTAINERS,
  }),
  lab("secrets", {
    id: "secrets.container-id",
    title: "learn from the host name which container it is",
    why: "the engine takes orders by that name, and it differs from run to run",
    tiers: ["docker"],
    expects: (context) => (engineNetwork(context) === "host" ? undefined : "BLOCKED"),
    weakened: ["plain-host-name"],
    run: async ({ sandboxes }) => {
      const { stdout, sandbox } = await sandboxes.run("import platform; print(platform.node())")
      const name = stdout.trim()
      if (sandbox.containerId === undefined || name === "") return inconclusive("there is no name to compare")
      return sandbox.containerId.startsWith(name)
        ? allowed(`it is named ${name}, as the engine names it`)
        : blocked(`it is named ${name}`)
    },
  }),
  lab("lifecycle", {
    id: "life.owner-gone",
    title: "stay when the connection of the process it works for is cut",
    why: "a process that is killed can clear nothing away",
    tiers: ["docker"],
    weakened: ["stdin-stays"],
    run: async (one) => {
      await using left = await one.abandon()
      if (!left) return inconclusive("there is no container")
      const isGone = await comesAbout(async () => (await left.state()) === "gone", one)
      return isGone ? blocked("the engine has it no more") : allowed(`it is ${await left.state()}`)
    },
  }),
  lab("lifecycle", {
    id: "life.restarted",
    title: "be started again by the engine after its end",
    why: "what was ended has to stay so",
    tiers: ["docker"],
    weakened: ["container-stays", "restarts"],
    run: async (one) => {
      await using left = await one.abandon()
      if (!left) return inconclusive("there is no container")
      const hasEnded = await comesAbout(async () => (await left.state()) !== "running", one)
      if (!hasEnded) return inconclusive("it did not end")
      const isBack = await comesAbout(
        async () => ["running", "restarted"].includes(await left.state()),
        one,
        500,
      )
      return isBack ? allowed("the engine has started it again") : blocked(`it is ${await left.state()}`)
    },
  }),
]

function isIn(folder: string, target: string): boolean {
  return target === folder || target.startsWith(`${folder}/`)
}

// The policy may mount something of its own there.
function uncovered({ policy, facts }: ProbeContext): string[] {
  return facts.imageVolumes.filter((place) => !policy.mounts.some(({ target }) => target === place))
}

async function comesAbout(
  isSo: () => Promise<boolean>,
  { signal }: Lab,
  withinMs: number = GONE_WITHIN_MS,
): Promise<boolean> {
  const end = performance.now() + withinMs
  while (!(await isSo())) {
    signal.throwIfAborted()
    if (performance.now() > end) return false
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
  return true
}
