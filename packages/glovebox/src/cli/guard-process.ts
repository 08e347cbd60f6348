import { inspect } from "node:util"
import { EXIT_FAILED } from "./command-failure.ts"
import { processOutput } from "./command-output.ts"

/** What the process prints by itself, of errors that nobody caught and of warnings, has no secrets in it either. */
export function guardProcess(): void {
  const { stderr, redaction } = processOutput()
  process.on("uncaughtException", (error: unknown) => {
    stderr.put(`${shown(error, (given) => redaction.redactor.error(given))}\n`)
    process.exit(EXIT_FAILED)
  })
  // Node's own listener, which is there unless warnings are not wanted, prints them as they are.
  if (process.listenerCount("warning") === 0) return
  process.removeAllListeners("warning")
  process.on("warning", (warning: Error & { readonly detail?: unknown }) => {
    const { name, message, detail } = warning
    const more = typeof detail === "string" ? `\n${detail}` : ""
    stderr.put(`(node:${process.pid}) ${name}: ${message}${more}\n`)
  })
}

function shown(error: unknown, clean: (error: Error) => Error): string {
  try {
    return inspect(error instanceof Error ? clean(error) : error)
  } catch {
    return "An error that cannot be shown."
  }
}
