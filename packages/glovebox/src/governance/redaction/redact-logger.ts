import type { Logger } from "../../core/logger.ts"
import type { Redactor } from "./redactor.ts"

/** The same logger, told without secrets. */
export function redactLogger(logger: Logger, redactor: Pick<Redactor, "text" | "value">): Logger {
  const told = (level: keyof Logger): Logger["debug"] => {
    return (message, fields) => {
      const text = redactor.text(message)
      if (fields === undefined) logger[level](text)
      else logger[level](text, cleanFields(fields, redactor))
    }
  }
  return { debug: told("debug"), info: told("info"), warn: told("warn"), error: told("error") }
}

// What cannot be looked at may hold anything, and is left out; the message is worth more than its fields.
function cleanFields(
  fields: Readonly<Record<string, unknown>>,
  redactor: Pick<Redactor, "value">,
): Readonly<Record<string, unknown>> {
  try {
    return redactor.value(fields) as Readonly<Record<string, unknown>>
  } catch {
    return { fields: "left out: they cannot be redacted" }
  }
}
