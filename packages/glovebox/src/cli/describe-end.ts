import type { BlockResult } from "../executors/index.ts"
import { type PolicyFields, formatBytes, formatDuration } from "../policy/index.ts"

/** In plain words, a line for each thing about a run's end that its output does not show. */
export function describeEnd(
  results: readonly BlockResult[],
  planned: number,
  limits: PolicyFields["limits"],
): string[] {
  const last = results.at(-1)
  if (!last) return []
  const cause = causeOf(last, limits)
  const lines = cause === undefined ? [] : [cause]
  const ran = results.length
  if (last.exitCode !== 0 && planned > 1) {
    const left = planned - ran
    const rest = left === 0 ? "" : `; the ${left === 1 ? "one" : left} after it did not run`
    lines.push(`block ${ran} of ${planned} (${last.language}) ended with ${last.exitCode}${rest}`)
  }
  return lines
}

function causeOf({ termination, signal }: BlockResult, limits: PolicyFields["limits"]): string | undefined {
  switch (termination) {
    case "exit":
      return undefined
    case "signal":
      return `the code was ended by ${signal ?? "a signal"}`
    case "timeout":
      return `the code ran longer than ${formatDuration(limits.wall)} (limits.wall) and was ended; --timeout gives it more`
    case "oom":
      return `the code ran out of memory: it has ${formatBytes(limits.memory)} (limits.memory)`
    case "process-limit":
      return `the code ran into the limit of ${limits.pids} processes and threads (limits.pids)`
    case "disk-full":
      return `the code filled its workspace: it has ${formatBytes(limits.workspace)} and ${limits.files} files (limits.workspace, limits.files)`
    case "output-limit":
      return `the code wrote far more than ${formatBytes(limits.output)} of output (limits.output) and was ended`
    default:
      return termination satisfies never
  }
}
