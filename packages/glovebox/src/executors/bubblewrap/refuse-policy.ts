import { GloveboxError } from "../../core/index.ts"
import { type SandboxPolicy, checkTier } from "../../policy/index.ts"

const RUNTIMES = new Set(["auto", "bwrap", "bubblewrap"])

/** Refuses what the policy asks for and this tier has not, and names the one that has. */
export function refusePolicy(policy: SandboxPolicy): void {
  checkTier(policy, "bubblewrap")
  const { network, capabilities, readOnlyRoot, runtime, isolation } = policy.fields
  if (typeof network === "object" && "dangerously" in network) {
    throw refused(
      `This executor gives no network, so network: { dangerously: "${network.dangerously}" } cannot be given. Use an allow-list, or Docker.`,
    )
  }
  if (capabilities.length > 0) {
    throw refused(
      `This executor gives no capabilities, and the policy has ${capabilities.join(", ")}. Leave them out, or use Docker.`,
    )
  }
  if (!readOnlyRoot) {
    throw refused(
      "The root is read-only here in every case, as it is this machine's own. Leave readOnlyRoot: false out, or use Docker.",
    )
  }
  if (!RUNTIMES.has(runtime)) {
    throw refused(`The policy requires the runtime ${runtime}, and this is bubblewrap. Use Docker.`)
  }
  if (isolation === "vm" || isolation === "userspace-kernel") {
    throw refused(
      `The policy requires the isolation "${isolation}", and bubblewrap gives "container". Use Docker with gVisor, or relax the policy.`,
    )
  }
}

function refused(message: string): GloveboxError {
  return new GloveboxError("SANDBOX_UNENFORCEABLE", message)
}
