import { CommandFailure, EXIT_USAGE } from "../command-failure.ts"

const UNITS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
}
const DAY_MS = 86_400_000

/** A time as `2026-05-01`, `2026-05-01T10:30`, or `2h` ago; UTC, as in the log, unless it names a zone. */
export function readTime(
  flag: "--since" | "--until",
  text: string,
  { now = Date.now() }: { readonly now?: number | undefined } = {},
): number {
  const [, count, unit] = /^(\d{1,9})([smhdw])$/.exec(text) ?? []
  if (count !== undefined) return now - Number(count) * (UNITS[unit ?? ""] ?? 0)
  const [, day, clock = "", zone = "Z"] =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:\d\d)?)?$/i.exec(text) ?? []
  const time = day === undefined ? Number.NaN : Date.parse(`${day}T${clock || "00:00"}${zone.toUpperCase()}`)
  if (!Number.isFinite(time)) {
    throw new CommandFailure(
      `${flag} ${text} is no time: write 2026-05-01, 2026-05-01T10:30, or 2h for two hours ago (s, m, h, d, w).`,
      { exitCode: EXIT_USAGE },
    )
  }
  // Until a day is until its end.
  return flag === "--until" && clock === "" ? time + DAY_MS - 1 : time
}
