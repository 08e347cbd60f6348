import { canonicalJson } from "../internal/canonical-json.ts"
import { isTarget, readEgressTarget } from "./egress-rule.ts"
import { type AllowList, type EgressRuleFields, type NetworkFields, allowListOf } from "./network-schema.ts"
import { type PolicyChange, changed, compareSets } from "./policy-change.ts"
import { formatBytes, formatDuration } from "./units.ts"

type Rule = AllowList["allow"][number]

/** What changes from one network to another. */
export function compareNetworks(before: NetworkFields, after: NetworkFields): PolicyChange[] {
  const [from, to] = [describe(before), describe(after)]
  const [reachBefore, reachAfter] = [reach(before), reach(after)]
  if (reachBefore !== reachAfter)
    return changed("network", from, to, reachAfter > reachBefore ? "widens" : "narrows")
  const [had, has] = [allowListOf(before), allowListOf(after)]
  return had && has ? compareLists(had, has) : []
}

function compareLists(before: AllowList, after: AllowList): PolicyChange[] {
  return [
    ...compareRules(before, after),
    ...compareSets("network.allowPrivate", before.allowPrivate ?? [], after.allowPrivate ?? []),
    ...changed(
      "network.connections",
      String(before.connections),
      String(after.connections),
      more(before.connections, after.connections),
    ),
    ...changed(
      "network.idle",
      formatDuration(before.idle),
      formatDuration(after.idle),
      more(before.idle, after.idle),
    ),
  ]
}

// By all that a rule says: its words are for people.
function compareRules(before: AllowList, after: AllowList): PolicyChange[] {
  const [had, has] = [new Set(before.allow.map(canonicalJson)), new Set(after.allow.map(canonicalJson))]
  const path = "network.allow"
  const added = after.allow.filter((rule) => !had.has(canonicalJson(rule)))
  const removed = before.allow.filter((rule) => !has.has(canonicalJson(rule)))
  return [
    ...added.map((rule): PolicyChange => {
      // A rule that allows only what another allowed before is new, but nothing more.
      const isNarrower = before.allow.some((other) => isWithin(other, rule, after))
      return { path, from: "absent", to: describeRule(rule), effect: isNarrower ? "narrows" : "widens" }
    }),
    ...removed.map((rule): PolicyChange => ({
      path,
      from: describeRule(rule),
      to: "absent",
      effect: "narrows",
    })),
  ]
}

function reach(network: NetworkFields): number {
  if (network === "none") return 0
  if ("allow" in network) return 1
  return network.dangerously === "bridge" ? 2 : 3
}

function describe(network: NetworkFields): string {
  if (network === "none") return "none"
  if (!("allow" in network)) return `dangerously ${network.dangerously}`
  const { allow, allowPrivate = [] } = network
  const lists = [
    ...(allow.length > 0 ? [`allow ${allow.map(describeRule).join(", ")}`] : []),
    ...(allowPrivate.length > 0 ? [`allowPrivate ${allowPrivate.join(", ")}`] : []),
  ]
  return lists.join("; ")
}

/** A rule in words, which are those of no other rule. */
export function describeRule(rule: Rule): string {
  if (typeof rule === "string") return rule
  const parts = [
    ...(rule.protocol === "tcp" ? ["any protocol"] : []),
    ...(rule.intercept ? ["intercepted"] : []),
    ...(rule.methods ? [rule.methods.join("|")] : []),
    ...(rule.paths ? [rule.paths.map((path) => JSON.stringify(path)).join("|")] : []),
    ...(rule.up === undefined ? [] : [`up ${formatBytes(rule.up)}`]),
    ...(rule.down === undefined ? [] : [`down ${formatBytes(rule.down)}`]),
  ]
  return `${rule.to} (${parts.join(", ")})`
}

// Several rules in the place of one would each have its bytes.
function isWithin(outer: Rule, inner: Rule, after: AllowList): boolean {
  if (!covers(outer, inner)) return false
  const { up, down } = whole(outer)
  const hasBudget = up !== undefined || down !== undefined
  return !hasBudget || after.allow.filter((rule) => covers(outer, rule)).length === 1
}

// Whether all that the inner rule allows, the outer one does.
function covers(outer: Rule, inner: Rule): boolean {
  const [wide, narrow] = [whole(outer), whole(inner)]
  return (
    coversTarget(wide.to, narrow.to) &&
    (wide.protocol === narrow.protocol || (wide.protocol === "tcp" && !wide.methods && !wide.paths)) &&
    // Behind an interception TLS is no longer hidden from methods and paths, so more of it passes.
    (wide.intercept === narrow.intercept || (!wide.methods && !wide.paths)) &&
    (!wide.methods || (narrow.methods ?? ["*"]).every((method) => wide.methods!.includes(method))) &&
    (!wide.paths ||
      (narrow.paths ?? ["*"]).every((path) => wide.paths!.some((one) => path.startsWith(one)))) &&
    within(wide.up, narrow.up) &&
    within(wide.down, narrow.down)
  )
}

function whole(rule: Rule): EgressRuleFields {
  return typeof rule === "string" ? { to: rule, protocol: "web" } : rule
}

function coversTarget(outer: string, inner: string): boolean {
  if (outer === inner) return true
  const [wide, narrow] = [readEgressTarget(outer), readEgressTarget(inner)]
  if (!("target" in wide) || !("target" in narrow) || narrow.target.isWildcard) return false
  return isTarget(wide.target, narrow.target.host, narrow.target.port)
}

function more(before: number, after: number): "widens" | "narrows" {
  return after > before ? "widens" : "narrows"
}

function within(budget: number | undefined, asked: number | undefined): boolean {
  return budget === undefined || (asked !== undefined && asked <= budget)
}
