import type { PresetComparison } from "./compare-preset.ts"
import { type Paint, formatHeader, plainCell } from "./format-table.ts"
import type { ProbeReport, VerifyReport } from "./verify-report.ts"

const NOT_TRIED = "-"

/** Both reports side by side. */
export function formatComparison(
  { preset, title, glovebox, other }: PresetComparison,
  paint: Paint = (_style, text) => text,
): string {
  const others = new Map(other.probes.map((probe) => [probe.id, probe]))
  const names = ["probe", "glovebox", preset, `evidence of ${preset}`]
  const width = Math.max(...glovebox.probes.map(({ id }) => id.length), names[0]?.length ?? 0)
  const column = Math.max("INCONCLUSIVE".length, preset.length)
  const cells = (id: string, ours: string, theirs: string): string =>
    [id.padEnd(width), ours.padEnd(column), theirs.padEnd(column)].join("  ")
  const lines = [...formatHeader(glovebox), `beside   ${preset}: ${title}`, ""]
  lines.push(paint("dim", `${cells(names[0] ?? "", names[1] ?? "", preset)}  ${names[3]}`))
  let family = ""
  for (const probe of glovebox.probes) {
    if (probe.family !== family) {
      family = probe.family
      lines.push("", paint("bold", family))
    }
    const found = others.get(probe.id)
    const line = cells(probe.id, probe.observed, found?.observed ?? NOT_TRIED)
    const evidence = found ? `  ${plainCell(found.evidence)}` : ""
    lines.push((isWorse(probe, found) ? paint("yellow", line) : line) + evidence)
  }
  return [...lines, "", summary(glovebox, other, preset, paint)].join("\n")
}

function isWorse(ours: ProbeReport, theirs: ProbeReport | undefined): boolean {
  return ours.observed === "BLOCKED" && theirs?.observed === "ALLOWED"
}

function summary(glovebox: VerifyReport, other: VerifyReport, preset: string, paint: Paint): string {
  const ours = new Map(glovebox.probes.map((probe) => [probe.id, probe]))
  const worse = other.probes.filter((probe) => {
    const own = ours.get(probe.id)
    return own !== undefined && isWorse(own, probe)
  })
  const wrong = glovebox.probes.filter(({ pass }) => !pass)
  const held =
    wrong.length === 0
      ? paint("green", `All ${glovebox.probes.length} probes as the policy expects with glovebox.`)
      : paint("red", `Not as the policy expects with glovebox: ${wrong.map(({ id }) => id).join(", ")}.`)
  return `${held}\n${paint("yellow", `${preset} lets ${worse.length} attacks through that glovebox blocks.`)}`
}
