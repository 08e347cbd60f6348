interface ReadableHeaders {
  get(name: string): string | null
}

/** How long a provider asks to wait, in milliseconds: by `retry-after-ms`, else `Retry-After` in seconds or as a date. */
export function retryAfterMs(headers: ReadableHeaders, now = Date.now()): number | undefined {
  const precise = number(headers.get("retry-after-ms"))
  if (precise !== undefined) return precise
  const text = headers.get("retry-after")
  const seconds = number(text)
  if (seconds !== undefined) return seconds * 1000
  // Date.parse takes "-1" for a year; a date of HTTP begins with its day.
  const date = text !== null && /^[A-Z]/i.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

function number(text: string | null): number | undefined {
  return text !== null && /^\s*\d+(?:\.\d+)?\s*$/.test(text) ? Number(text) : undefined
}
