import { EXIT_FAILED } from "./command-failure.ts"
import type { CommandOutput } from "./command-output.ts"
import type { Interrupts } from "./interrupts.ts"

const EXIT_NO_READER = 141

/** The exit code of a command that was ended: by a signal, or because its output went nowhere. */
export function leftExitCode({ exitCode }: Interrupts, output: CommandOutput): number {
  if (exitCode !== undefined) return exitCode
  const { code, message } = (output.stdout.gone.reason ?? {}) as Partial<NodeJS.ErrnoException>
  if (code === undefined || code === "EPIPE" || code === "ERR_STREAM_DESTROYED") return EXIT_NO_READER
  output.note(`the output cannot be written: ${message}`)
  return EXIT_FAILED
}
