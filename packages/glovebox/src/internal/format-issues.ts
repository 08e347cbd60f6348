import type { StandardSchemaV1 } from "@standard-schema/spec"

/** Renders schema issues as `path: what is wrong`, joined by semicolons. */
export function formatIssues(issues: readonly StandardSchemaV1.Issue[]): string {
  return issues.map(formatIssue).join("; ")
}

function formatIssue(issue: StandardSchemaV1.Issue): string {
  const path = (issue.path ?? []).map((segment) =>
    String(typeof segment === "object" ? segment.key : segment),
  )
  return path.length === 0 ? issue.message : `${path.join(".")}: ${issue.message}`
}
