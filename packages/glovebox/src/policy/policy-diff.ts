import { createHash } from "node:crypto"
import { canonicalJson } from "../internal/canonical-json.ts"
import { compareNetworks } from "./network-diff.ts"
import { type Effect, type PolicyChange, changed, compareSets } from "./policy-change.ts"
import type { PolicyFields } from "./policy-schema.ts"
import { compareSecrets } from "./secrets-diff.ts"
import { formatBytes, formatDuration } from "./units.ts"

/** What changes from one policy to another, in the order of the policy's fields. */
export function comparePolicies(before: PolicyFields, after: PolicyFields): readonly PolicyChange[] {
  return [
    ...changed("image", before.image, after.image, "changes"),
    ...compareNetworks(before.network, after.network),
    ...changed(
      "readOnlyRoot",
      String(before.readOnlyRoot),
      String(after.readOnlyRoot),
      after.readOnlyRoot ? "narrows" : "widens",
    ),
    ...changed("user", before.user, after.user, userEffect(before.user, after.user)),
    ...compareSets("capabilities", before.capabilities, after.capabilities),
    ...compareSeccomp(before.seccomp, after.seccomp),
    ...compareLimits(before.limits, after.limits),
    ...compareSets("mounts", before.mounts.map(describeMount), after.mounts.map(describeMount)),
    ...compareEnvironments(before.env, after.env),
    ...compareSecrets(before.secrets, after.secrets),
    ...changed("runtime", before.runtime, after.runtime, runtimeEffect(before.runtime, after.runtime)),
    ...changed(
      "isolation",
      before.isolation ?? "any",
      after.isolation ?? "any",
      isolationEffect(before, after),
    ),
    ...compareTiers(before.tiers, after.tiers),
  ]
}

// What another profile allows cannot be told by looking at it, so any but ours counts as wider.
function compareSeccomp(before: PolicyFields["seccomp"], after: PolicyFields["seccomp"]): PolicyChange[] {
  const [from, to] = [describeSeccomp(before), describeSeccomp(after)]
  return changed("seccomp", from, to, after === "strict" ? "narrows" : "widens")
}

function describeSeccomp(seccomp: PolicyFields["seccomp"]): string {
  if (seccomp === "strict") return "strict"
  if ("dangerously" in seccomp) return `dangerously ${seccomp.dangerously}`
  return `profile ${createHash("sha256").update(canonicalJson(seccomp.profile)).digest("hex").slice(0, 12)}`
}

function compareLimits(before: PolicyFields["limits"], after: PolicyFields["limits"]): PolicyChange[] {
  const format: Record<keyof PolicyFields["limits"], (value: number) => string> = {
    wall: formatDuration,
    memory: formatBytes,
    cpus: String,
    pids: String,
    workspace: formatBytes,
    files: String,
    output: formatBytes,
  }
  return (Object.keys(format) as (keyof PolicyFields["limits"])[]).flatMap((name) =>
    changed(
      `limits.${name}`,
      format[name](before[name]),
      format[name](after[name]),
      after[name] > before[name] ? "widens" : "narrows",
    ),
  )
}

// Names only: a value may be a secret.
function compareEnvironments(before: PolicyFields["env"], after: PolicyFields["env"]): PolicyChange[] {
  const edited = Object.keys(after).filter(
    (name) => Object.hasOwn(before, name) && before[name] !== after[name],
  )
  return [
    ...compareSets("env", Object.keys(before), Object.keys(after)),
    ...edited.map((name): PolicyChange => ({
      path: `env.${name}`,
      from: "a value",
      to: "another",
      effect: "changes",
    })),
  ]
}

function describeMount({ source, target, mode }: PolicyFields["mounts"][number]): string {
  return `${source}:${target}:${mode}`
}

// The user and the group each give root's rights of their kind.
function userEffect(before: string, after: string): Effect {
  const [was, is] = [rootParts(before), rootParts(after)]
  if (is.some((isRoot, part) => isRoot && !was[part])) return "widens"
  return was.some((wasRoot, part) => wasRoot && !is[part]) ? "narrows" : "changes"
}

function rootParts(user: string): boolean[] {
  return user.split(":").map((part) => part === "0")
}

// gVisor, required or where there is one, stands between the code and the host's kernel.
function runtimeEffect(before: string, after: string): Effect {
  const [was, is] = [hasOwnKernel(before), hasOwnKernel(after)]
  if (was === is) return before === "runsc" && after === "auto" ? "widens" : "changes"
  return was ? "widens" : "narrows"
}

function hasOwnKernel(runtime: string): boolean {
  return runtime === "auto" || runtime.startsWith("runsc")
}

const STRENGTH = ["wasm", "container", "userspace-kernel", "vm"]

function isolationEffect(before: PolicyFields, after: PolicyFields): Effect {
  return strength(after) < strength(before) ? "widens" : "narrows"
}

function strength({ isolation }: PolicyFields): number {
  return isolation ? STRENGTH.indexOf(isolation) : -1
}

// Without a list every kind may run the code.
function compareTiers(before: PolicyFields["tiers"], after: PolicyFields["tiers"]): PolicyChange[] {
  if (before && after) return compareSets("tiers", before, after)
  const [from, to] = [before, after].map((tiers) => tiers?.join(", ") ?? "any")
  return changed("tiers", from ?? "any", to ?? "any", after ? "narrows" : "widens")
}
