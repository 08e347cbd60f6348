/** Where the framework reports; `console` is one. */
export interface Logger {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void
  info(message: string, fields?: Readonly<Record<string, unknown>>): void
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void
  error(message: string, fields?: Readonly<Record<string, unknown>>): void
}

const nothing = (): void => {}

export const silentLogger: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing }

/** The default: quiet, but an error nobody else can see becomes a process warning. */
export const warningLogger: Logger = {
  ...silentLogger,
  error(message, fields) {
    const error = fields?.["error"]
    process.emitWarning(error instanceof Error ? `${message}: ${error.message}` : message, {
      type: "GloveboxWarning",
      ...(error instanceof Error && error.stack !== undefined ? { detail: error.stack } : {}),
    })
  },
}

/** The same logger, but one that cannot break what it reports on. */
export function safeLogger(logger: Logger): Logger {
  const guard =
    (level: keyof Logger): Logger["debug"] =>
    (message, fields) => {
      try {
        const result: unknown = logger[level](message, fields)
        if (result instanceof Promise) result.catch(nothing)
      } catch {
        // There is nowhere left to report to.
      }
    }
  return { debug: guard("debug"), info: guard("info"), warn: guard("warn"), error: guard("error") }
}
