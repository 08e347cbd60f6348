import type { Artifact, CodeResult, LimitHit } from "../../executors/index.ts"
import { type PolicyFields, formatBytes, formatDuration } from "../../policy/index.ts"

type Limits = PolicyFields["limits"]

const MOST_DENIALS = 5
const MOST_FILES = 20

/** A run in words that a model can act on: what it printed, how it ended and why, what was denied, which files it made. */
export function describeCodeResult(result: CodeResult, limits?: Limits): string {
  const output = result.output.trimEnd()
  const notes = [
    ...(result.exitCode === 0 ? [] : [`It ended with exit code ${result.exitCode}.`]),
    ...endOf(result, limits),
    ...(result.truncated
      ? ["The middle of the output was left out: print less, or write it to a file."]
      : []),
    ...denialsOf(result),
    ...filesOf(result),
    ...(result.stateLost
      ? [`Variables are gone: ${result.stateLostBecause ?? "the interpreter ended."}`]
      : []),
  ]
  if (output === "" && result.exitCode === 0) notes.unshift("It ended well and printed nothing.")
  return [output, notes.join("\n")].filter((part) => part !== "").join("\n\n")
}

function endOf({ termination, blocks }: CodeResult, limits: Limits | undefined): string[] {
  const signal = blocks.at(-1)?.signal
  switch (termination) {
    case "exit": {
      const hit = new Set(blocks.flatMap(({ limitsHit }) => limitsHit))
      return [...hit].map((limit) => `It ran into a limit: ${LIMITS[limit](limits)}.`)
    }
    case "signal":
      return [`It was ended by ${signal ?? "a signal"}.`]
    case "timeout":
      return [
        `It was ended because it took too long: ${LIMITS.wall(limits)}. Do less at a time, or in steps.`,
      ]
    case "oom":
      return [`It was ended for want of memory: ${LIMITS.memory(limits)}. Work on the data in parts.`]
    case "process-limit":
      return [`It was ended because it started too many processes or threads: ${LIMITS.pids(limits)}.`]
    case "disk-full":
      return [`It filled its disk: ${LIMITS.workspace(limits)}. Remove files that are not needed.`]
    case "output-limit":
      return [
        `It was ended because it printed far too much: ${LIMITS.output(limits)}. Write to a file instead.`,
      ]
    default:
      // Executors may be anybody's.
      return [`It ended by ${String(termination satisfies never)}.`]
  }
}

const LIMITS: Readonly<Record<LimitHit, (limits: Limits | undefined) => string>> = {
  wall: (limits) => (limits ? `it may run for ${formatDuration(limits.wall)}` : "its time is bounded"),
  memory: (limits) => (limits ? `it has ${formatBytes(limits.memory)}` : "its memory is bounded"),
  pids: (limits) => (limits ? `it may have ${limits.pids} at a time` : "their number is bounded"),
  workspace: (limits) =>
    limits ? `it has ${formatBytes(limits.workspace)} and ${limits.files} files` : "its disk is bounded",
  output: (limits) => (limits ? `${formatBytes(limits.output)} are kept` : "its output is bounded"),
}

function denialsOf({ egress = [] }: CodeResult): string[] {
  const denials = egress.flatMap(({ denial }) =>
    denial ? [`Denied: ${denial.message} ${denial.suggestion}`] : [],
  )
  return shown([...new Set(denials)], MOST_DENIALS, (rest) => `Denied: ${rest} more connections.`)
}

function filesOf({ artifacts, artifactsTruncated }: CodeResult): string[] {
  const names = shown(artifacts.map(nameOf), MOST_FILES, (rest) => `and ${rest} more`)
  return [
    ...(names.length === 0 ? [] : [`Files made or changed: ${names.join(", ")}.`]),
    ...(artifactsTruncated ? ["Some files were too many or too large to be kept."] : []),
  ]
}

function nameOf({ path, size }: Artifact): string {
  return `${path} (${size} bytes)`
}

function shown(lines: readonly string[], most: number, more: (rest: number) => string): string[] {
  return lines.length <= most ? [...lines] : [...lines.slice(0, most), more(lines.length - most)]
}
