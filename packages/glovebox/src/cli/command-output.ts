import { safeText } from "../internal/safe-text.ts"
import { OutputPipe } from "./output-pipe.ts"

/** Where a command prints, and the exit code it asks for. */
export interface CommandOutput {
  /** A line of what was asked for, on stdout. */
  print(line: string): void
  /** A line about it, on stderr. */
  note(line: string): void
  readonly stdout: OutputPipe
  readonly stderr: OutputPipe
  exitCode: number
}

// One for each stream of the process: it listens to the stream's errors up to the end.
let pipes: Pick<CommandOutput, "stdout" | "stderr"> | undefined

export function processOutput(): CommandOutput {
  pipes ??= { stdout: new OutputPipe(process.stdout), stderr: new OutputPipe(process.stderr) }
  const { stdout, stderr } = pipes
  return {
    print: (line) => stdout.put(`${line}\n`),
    // A message may quote what a server or a program said.
    note: (line) => stderr.put(`glovebox: ${safeText(line)}\n`),
    stdout,
    stderr,
    exitCode: 0,
  }
}
