const UNITS = ["B", "KiB", "MiB", "GiB"]

/** A size as people say it. */
export function humanBytes(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)))
  const amount = bytes / 1024 ** power
  return `${power === 0 ? amount : amount.toFixed(1)} ${UNITS[power]}`
}

/** A time as people say it. */
export function humanDuration(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
}
