import { stripVTControlCharacters } from "node:util"
import type { ProbeReport, VerifyReport } from "./verify-report.ts"

/** How words are made to stand out; as they are, where nothing can. */
export type Paint = (style: "red" | "green" | "yellow" | "dim" | "bold", text: string) => string

const COLUMNS = ["probe", "expected", "observed", "evidence"] as const

/** The report as a table that a reviewer can read. */
export function formatTable(report: VerifyReport, paint: Paint = (_style, text) => text): string {
  const rows = report.probes.map(({ id, expected, observed }) => [id, expected, observed] as const)
  const widths = [0, 1, 2].map((at) =>
    Math.max(COLUMNS[at]?.length ?? 0, ...rows.map((row) => row[at]?.length ?? 0)),
  )
  const heads = COLUMNS.map((text, at) => text.padEnd(widths[at] ?? 0)).join("  ")
  const lines: string[] = [...formatHeader(report), "", paint("dim", `      ${heads}`)]
  let family = ""
  for (const probe of report.probes) {
    if (probe.family !== family) {
      family = probe.family
      lines.push("", paint("bold", family))
    }
    lines.push(row(probe, widths, paint))
    if (!probe.pass) lines.push(`      ${paint("dim", probe.title)}`)
  }
  lines.push("", summary(report, paint))
  return lines.join("\n")
}

/** What was looked at, a line for each fact. */
export function formatHeader(report: VerifyReport): string[] {
  const { policySha256, imageDigest, image, kernel, runtime, engine, path, sandbox, mode, date } = report
  const facts: readonly (readonly [string, string | undefined])[] = [
    ["policy", `sha256:${policySha256}`],
    ["sandbox", `${sandbox}, ${path}`],
    ["image", imageDigest === undefined ? undefined : `${image ?? ""} ${imageDigest}`.trim()],
    ["kernel", kernel],
    ["runtime", runtime],
    ["engine", engine],
    ["date", `${date}, ${mode}`],
  ]
  return facts.flatMap(([name, value]) =>
    value === undefined ? [] : [`${name.padEnd(8)} ${plainCell(value)}`],
  )
}

function row(probe: ProbeReport, widths: readonly number[], paint: Paint): string {
  const { id, expected, observed, pass, evidence, control, controlEvidence } = probe
  const cells = [id, expected, observed].map((text, at) => plainCell(text).padEnd(widths[at] ?? 0))
  const mark = pass ? paint("green", "ok  ") : paint("red", "FAIL")
  const broken = control === "broken" ? ` (its control is broken: ${plainCell(controlEvidence ?? "")})` : ""
  return `${mark}  ${cells.join("  ")}  ${plainCell(evidence)}${broken}`
}

/** How many were as expected, and which were not. */
function summary({ probes, durationMs }: VerifyReport, paint: Paint): string {
  const wrong = probes.filter(({ pass }) => !pass)
  const seconds = (durationMs / 1000).toFixed(1)
  const controls = probes.filter(({ control }) => control !== undefined)
  const shown =
    controls.length === 0
      ? ""
      : `; ${controls.filter(({ control }) => control === "works").length} of ${controls.length} controls work`
  if (wrong.length === 0) {
    return paint("green", `All ${probes.length} probes as the policy expects${shown} (${seconds} s).`)
  }
  const ids = wrong.map(({ id, observed }) => `${id} ${observed}`).join(", ")
  return paint(
    "red",
    `${wrong.length} of ${probes.length} probes not as the policy expects${shown} (${seconds} s): ${ids}.`,
  )
}

/** Text of a sandbox's own that a terminal takes for text. */
export function plainCell(text: string): string {
  return stripVTControlCharacters(text).replaceAll(/[^\P{C}]/gu, "\u{fffd}")
}
