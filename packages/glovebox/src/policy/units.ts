// Docker's one-letter units count in 1024 too; here they are read alike.
const BYTE_UNITS: Readonly<Record<string, number>> = {
  b: 1,
  k: 1024,
  kb: 1000,
  kib: 1024,
  m: 1024 ** 2,
  mb: 1000 ** 2,
  mib: 1024 ** 2,
  g: 1024 ** 3,
  gb: 1000 ** 3,
  gib: 1024 ** 3,
}

const TIME_UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** Reads `"512MiB"`, or a number of bytes; undefined when it is neither. */
export function parseBytes(value: string | number): number | undefined {
  return parseUnits(value, BYTE_UNITS)
}

/** Reads `"60s"`, or a number of milliseconds; undefined when it is neither. */
export function parseDuration(value: string | number): number | undefined {
  return parseUnits(value, TIME_UNITS)
}

export function formatBytes(bytes: number): string {
  return (
    format(bytes, [
      ["GiB", 1024 ** 3],
      ["MiB", 1024 ** 2],
      ["KiB", 1024],
    ]) ?? `${bytes}B`
  )
}

export function formatDuration(ms: number): string {
  return (
    format(ms, [
      ["h", 3_600_000],
      ["m", 60_000],
      ["s", 1000],
    ]) ?? `${ms}ms`
  )
}

function parseUnits(value: string | number, units: Readonly<Record<string, number>>): number | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) ? value : undefined
  const match = /^(\d+(?:\.\d+)?)\s*([a-z]+)$/i.exec(value.trim())
  const unit =
    match && Object.hasOwn(units, match[2]?.toLowerCase() ?? "")
      ? units[match[2]?.toLowerCase() ?? ""]
      : undefined
  if (!match || unit === undefined) return undefined
  const amount = Math.round(Number(match[1]) * unit)
  return Number.isSafeInteger(amount) ? amount : undefined
}

// Only a unit that divides evenly, so that what is printed can be read back.
function format(value: number, units: readonly (readonly [string, number])[]): string | undefined {
  const fitting = units.find(([, size]) => value >= size && value % size === 0)
  return fitting && `${value / fitting[1]}${fitting[0]}`
}
