import type { Expectation } from "./finding.ts"
import type { ProbeContext } from "./probe.ts"

type Expects = (context: ProbeContext) => Expectation | undefined

/** Whether the code is root. */
export function isRoot({ policy }: ProbeContext): boolean {
  return policy.user.startsWith("0:")
}

/** Whether root has a capability; another user gains nothing by one. */
function hasCapability(context: ProbeContext, name: string): boolean {
  const names = context.policy.capabilities.map((one) => one.replace(/^CAP_/, ""))
  return isRoot(context) && (names.includes(name) || names.includes("ALL"))
}

/** Refused by the strict profile; without that by want of a capability; without that nothing is promised. */
export function filtered(capability?: string): Expects {
  return (context) => {
    if (context.policy.seccomp === "strict") return "BLOCKED"
    return capability !== undefined && !hasCapability(context, capability) ? "BLOCKED" : undefined
  }
}

/** Refused unless the policy gives root the capability. */
export function unlessGranted(capability: string): Expects {
  return (context) => (hasCapability(context, capability) ? "ALLOWED" : "BLOCKED")
}

/** The network of the engine that the policy gives, if it gives one. */
export function engineNetwork({ policy }: ProbeContext): "bridge" | "host" | undefined {
  const { network } = policy
  return typeof network === "object" && "dangerously" in network ? network.dangerously : undefined
}

/** Refused unless the policy gives a network of the engine. */
export function withoutNetwork(context: ProbeContext): Expectation {
  return engineNetwork(context) === undefined ? "BLOCKED" : "ALLOWED"
}

/**
 * The agent closes itself to programs of its user. gVisor knows no such thing: there code can reach it, which is told here
 * as it is. It is the same code's own call that it could then speak for.
 */
export function reachesAgent(context: ProbeContext): Expectation | undefined {
  if (hasCapability(context, "SYS_PTRACE")) return undefined
  return context.facts.hasOwnKernel ? "ALLOWED" : "BLOCKED"
}
