import { jsonLine, safeText } from "../internal/safe-text.ts"
import { OutputPipe } from "./output-pipe.ts"
import { OutputRedaction } from "./output-redaction.ts"

/** Where a command prints, without secrets, and the exit code it asks for. */
export interface CommandOutput {
  /** A line of what was asked for, on stdout. */
  print(line: string): void
  /** The same for programs: data as a line of JSON. */
  printJson(value: unknown): void
  /** A line about it, on stderr. */
  note(line: string): void
  readonly stdout: OutputPipe
  readonly stderr: OutputPipe
  readonly redaction: OutputRedaction
  exitCode: number
}

// One for each stream of the process: it listens to the stream's errors up to the end.
let pipes: Pick<CommandOutput, "stdout" | "stderr" | "redaction"> | undefined

export function processOutput(): CommandOutput {
  pipes ??= processPipes()
  const { stdout, stderr, redaction } = pipes
  return {
    print: (line) => stdout.put(`${line}\n`),
    printJson: (value) => stdout.putClean(`${jsonLine(redaction.json(value))}\n`),
    // A message may quote what a server or a program said.
    note: (line) => stderr.put(`glovebox: ${safeText(line)}\n`),
    stdout,
    stderr,
    redaction,
    exitCode: 0,
  }
}

function processPipes(): Pick<CommandOutput, "stdout" | "stderr" | "redaction"> {
  const redaction = new OutputRedaction()
  return {
    stdout: new OutputPipe(process.stdout, redaction),
    stderr: new OutputPipe(process.stderr, redaction),
    redaction,
  }
}
