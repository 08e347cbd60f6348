import { PYTHON_VARIABLE } from "../autogen-python.ts"
import { twoDecimals, whole } from "../format-number.ts"
import { formatTable } from "../format-table.ts"
import type { AutogenNumbers } from "./autogen.ts"
import { MESSAGES } from "./message-memory.ts"
import { BLOCK, GROWTH_ROUNDS, type GrowthPoint, growthRatio } from "./turn-growth.ts"
import { TURNS } from "./turn-rate.ts"

export interface ChatNumbers {
  readonly turnsPerSecond: number
  readonly growth: readonly GrowthPoint[]
  readonly bytesPerMessage: number
}

export function chatReport(ours: ChatNumbers, autogen: AutogenNumbers | undefined): string {
  const header = ["", "ours", ...(autogen ? [`AutoGen ${autogen.version}`, "times better"] : [])]
  const table = formatTable(header, [
    row("turns a second", ours.turnsPerSecond, autogen?.turnsPerSecond, "more"),
    ...ours.growth.map(({ messages, medianUs }) =>
      row(
        `microseconds a turn at ${whole(messages)} messages`,
        medianUs,
        autogen?.growth.find((point) => point.messages === messages)?.medianUs,
        "less",
      ),
    ),
    row("bytes a message keeps", ours.bytesPerMessage, autogen?.bytesPerMessage, "less"),
  ])
  const notes = [
    `Turns a second: of conversations of ${TURNS} turns. Growth: medians of ${GROWTH_ROUNDS} conversations, ${BLOCK} turns each.`,
    `Bytes: heap after collection, of ${whole(MESSAGES)} messages; each is kept by the team and by both agents.`,
    `A turn at 10,000 messages costs ${twoDecimals(growthRatio(ours.growth))} of one at 100.`,
  ]
  if (autogen) {
    const ratio = ours.turnsPerSecond / autogen.turnsPerSecond
    notes.push(
      `AutoGen's costs ${twoDecimals(growthRatio(autogen.growth))}. Ours has ${twoDecimals(ratio)} times the turns a second.`,
    )
  } else notes.push(`AutoGen is not compared: ${PYTHON_VARIABLE} names no Python.`)
  return [table, ...notes].join("\n")
}

function row(name: string, ours: number, autogen: number | undefined, better: "more" | "less"): string[] {
  if (autogen === undefined) return [name, whole(ours)]
  const ratio = better === "more" ? ours / autogen : autogen / ours
  return [name, whole(ours), whole(autogen), twoDecimals(ratio)]
}
