import type { StandardSchemaV1 } from "@standard-schema/spec"

// A long list with one mistake repeated would fill the log and tell nothing more.
const MAX_ISSUES = 10

/** Renders schema issues as `path: what is wrong`, joined by semicolons. */
export function formatIssues(issues: readonly StandardSchemaV1.Issue[]): string {
  const shown = issues.slice(0, MAX_ISSUES).map(formatIssue)
  if (issues.length > MAX_ISSUES) shown.push(`and ${issues.length - MAX_ISSUES} more`)
  return shown.join("; ")
}

function formatIssue(issue: StandardSchemaV1.Issue): string {
  const path = (issue.path ?? []).map((segment) =>
    String(typeof segment === "object" ? segment.key : segment),
  )
  return path.length === 0 ? issue.message : `${path.join(".")}: ${issue.message}`
}
