import { z } from "zod"
import { formatBytes, formatDuration, parseBytes, parseDuration } from "./units.ts"

const quantity = z.union([z.string(), z.number()])

/** A size, as text with its unit or as a number of bytes. */
export function bytes(minimum: number, maximum: number): z.ZodType<number, string | number> {
  return amount(parseBytes, formatBytes, `a size such as "512MiB", or a number of bytes`, minimum, maximum)
}

/** A time, as text with its unit or as a number of milliseconds. */
export function duration(minimum: number, maximum: number): z.ZodType<number, string | number> {
  return amount(
    parseDuration,
    formatDuration,
    `a time such as "60s", or a number of milliseconds`,
    minimum,
    maximum,
  )
}

function amount(
  parse: (value: string | number) => number | undefined,
  format: (value: number) => string,
  what: string,
  minimum: number,
  maximum: number,
): z.ZodType<number, string | number> {
  return quantity.transform((value, context) => {
    const parsed = parse(value)
    const message =
      parsed === undefined
        ? `${JSON.stringify(value)} is not ${what}`
        : `${format(parsed)} is outside ${format(minimum)} to ${format(maximum)}`
    if (parsed !== undefined && parsed >= minimum && parsed <= maximum) return parsed
    context.addIssue({ code: "custom", message })
    return z.NEVER
  })
}
