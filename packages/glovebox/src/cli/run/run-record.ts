import { relative } from "node:path"
import { formatBytes } from "../../policy/index.ts"
import type { RecordedRun } from "./recorded-executor.ts"

const SHORT = 12

/** The record of what ran, a few lines for each run, from what the sandbox itself reported. */
export function formatRecord(runs: readonly RecordedRun[]): string[] {
  let told: string | undefined
  return runs.flatMap((recorded, index) => {
    const { languages, codeSha256, run } = recorded
    const head = `run ${index + 1}  ${languages.join(", ")}  code ${short(codeSha256)}`
    if (!run) return [`${head}  ended before its end`]
    const wall = wallOf(recorded)
    const lines = [
      // Once for all runs behind the same wall.
      ...(wall === told ? [] : [wall]),
      `${head}  ${endOf(run)}  ${Math.round(run.durationMs)} ms`,
      ...run.denials.map(({ message }) => `       denied: ${message}`),
      ...run.artifacts.map(
        ({ path, size, sha256 }) => `       file ${path}  ${formatBytes(size)}  ${short(sha256)}`,
      ),
    ]
    told = wall
    return lines
  })
}

/** In one line, how much ran and where, and what log has it. */
export function summarizeRuns(runs: readonly RecordedRun[], log: string | undefined): string | undefined {
  const ended = runs.flatMap(({ run }) => run ?? [])
  const [first] = ended
  if (!first) return undefined
  const failed = ended.filter(({ exitCode }) => exitCode !== 0).length
  const many = runs.length === 1 ? "1 run" : `${runs.length} runs`
  return `${many} of code in ${first.sandbox.kind}${failed === 0 ? "" : `, ${failed} failed`}; policy ${short(first.sandbox.policySha256)}${log === undefined ? "" : `; recorded in ${shownPath(log)}`}`
}

/** From the current folder, where it is in that. */
export function shownPath(path: string): string {
  const way = relative(process.cwd(), path)
  return way.startsWith("..") ? path : way
}

function wallOf({ run, network }: RecordedRun): string {
  if (!run) return ""
  const { kind, policySha256, image, imageDigest, runtime } = run.sandbox
  return [
    kind + (runtime === undefined ? "" : ` (${runtime})`),
    ...(imageDigest === undefined ? [] : [`image ${image ?? ""} ${short(imageDigest)}`.trimEnd()]),
    `policy ${short(policySha256)}`,
    ...(network === undefined ? [] : [`network ${network}`]),
  ].join(", ")
}

function endOf({ termination, exitCode }: NonNullable<RecordedRun["run"]>): string {
  return termination === "exit" ? `exit ${exitCode}` : `${termination} (${exitCode})`
}

function short(digest: string): string {
  return digest.replace(/^sha256:/, "").slice(0, SHORT)
}
