import { GloveboxError } from "../../core/index.ts"
import { type PolicyFields, SandboxPolicy } from "../../policy/index.ts"

const MiB = 1024 ** 2
/** What an interpreter takes for itself. */
const LEAST_MEMORY = 32 * MiB

/** Refuses a policy that asks for what an interpreter in WebAssembly has not, or cannot be held to. */
export function checkEnforceable(fields: PolicyFields): void {
  const denyAll = new SandboxPolicy().fields
  const { network, mounts, capabilities, seccomp, user, image, runtime, isolation, limits } = fields
  if (network !== "none") refuse("network", "it has no sockets", "docker")
  if (mounts.length > 0) {
    refuse("mounts", "its files are in memory only; workDir carries a folder's files in and out", "docker")
  }
  if (capabilities.length > 0) refuse("capabilities", "its code makes no calls to the kernel", "docker")
  if (seccomp !== "strict") refuse("seccomp", "its code makes no calls to the kernel", "docker")
  if (!fields.readOnlyRoot) refuse("readOnlyRoot: false", "only /workspace and /tmp can be written", "docker")
  if (user !== denyAll.user) refuse(`user: "${user}"`, "it has no users", "docker")
  if (image !== denyAll.image) {
    refuse(`image: "${image}"`, "it has interpreters of its own and no packages", "docker")
  }
  if (runtime !== "auto") refuse(`runtime: "${runtime}"`, "it is no container", "docker")
  if (isolation !== undefined && isolation !== "wasm") {
    refuse(`isolation: "${isolation}"`, "its boundary is wasm", isolation === "vm" ? undefined : "docker")
  }
  if (limits.cpus < 1) {
    refuse(`limits.cpus: ${limits.cpus}`, "a thread cannot be held to a part of a processor", "docker")
  }
  if (limits.memory < LEAST_MEMORY) {
    refuse(
      `limits.memory: ${limits.memory / MiB} MiB`,
      `its interpreters need ${LEAST_MEMORY / MiB} MiB`,
      "docker",
    )
  }
}

function refuse(what: string, why: string, tier: string | undefined): never {
  throw new GloveboxError(
    "SANDBOX_UNENFORCEABLE",
    `The policy has ${what}, which the embedded sandbox cannot give or enforce: ${why}.${tier === undefined ? "" : ` The ${tier} executor can.`}`,
  )
}
