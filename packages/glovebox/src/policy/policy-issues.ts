import type { z } from "zod"
import { nearest } from "../internal/nearest.ts"

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  "": [
    "image",
    "network",
    "readOnlyRoot",
    "user",
    "capabilities",
    "seccomp",
    "limits",
    "mounts",
    "env",
    "secrets",
    "runtime",
    "isolation",
    "tiers",
  ],
  limits: ["wall", "memory", "cpus", "pids", "workspace", "files", "output"],
  mounts: ["source", "target", "mode"],
  network: ["allow", "allowPrivate", "connections", "idle", "dangerously"],
  allow: ["to", "protocol", "intercept", "methods", "paths", "up", "down"],
  seccomp: ["profile", "dangerously"],
  secrets: ["hosts", "header", "format", "env"],
}

const UNIONS: Readonly<Record<string, string>> = {
  network: `must be none, { allow: ["host:port"] } or { dangerously: bridge }`,
  seccomp: `must be strict, { profile: {...} } or { dangerously: unconfined }`,
}

/** One thing wrong with a policy, and where. */
export interface PolicyIssue {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

/** The issues of a policy, with the name that was probably meant for each unknown one. */
export function policyIssues(issues: readonly z.core.$ZodIssue[]): readonly PolicyIssue[] {
  return issues.flatMap((issue): readonly PolicyIssue[] => {
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) => ({ path: [...issue.path, key], message: unknownField(key, issue.path) }))
    }
    if (issue.code === "invalid_union") return [unionIssue(issue)]
    // What is wrong with a name is said by its own check.
    if (issue.code === "invalid_key")
      return [{ path: issue.path, message: issue.issues[0]?.message ?? issue.message }]
    return [{ path: issue.path, message: issue.message }]
  })
}

export function describePolicyIssues(issues: readonly z.core.$ZodIssue[]): string {
  return policyIssues(issues)
    .map(({ path, message }) => (path.length === 0 ? message : `${path.map(String).join(".")}: ${message}`))
    .join("; ")
}

function unknownField(key: string, path: readonly PropertyKey[]): string {
  const known = FIELDS[String(path[0] ?? "")] ?? []
  const meant = nearest(key, known)
  return `is not a field of a policy${meant === undefined ? "" : `; did you mean "${meant}"?`} Known here: ${known.join(", ")}.`
}

// A union reports every branch; an unknown name, or else the branch that came furthest, says what was meant.
function unionIssue(issue: z.core.$ZodIssueInvalidUnion): PolicyIssue {
  const known = FIELDS[String(issue.path[0])] ?? []
  const keys = issue.errors
    .flat()
    .flatMap((inner) => (inner.code === "unrecognized_keys" && inner.path.length === 0 ? inner.keys : []))
  const unknown = keys.find((key) => !known.includes(key))
  if (unknown !== undefined) {
    return { path: [...issue.path, unknown], message: unknownField(unknown, issue.path) }
  }
  const branches = issue.errors.flatMap((branch) => policyIssues(branch))
  const deepest = branches.toSorted((a, b) => b.path.length - a.path.length)[0]
  if (deepest && deepest.path.length > 0)
    return { path: [...issue.path, ...deepest.path], message: deepest.message }
  return { path: issue.path, message: UNIONS[String(issue.path[0])] ?? issue.message }
}
