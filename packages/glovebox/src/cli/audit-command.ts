import { Command, Option } from "commander"
import { AUDIT_EXPORT_FORMATS } from "../governance/audit/index.ts"
import { exportRecords } from "./audit/export-records.ts"
import { readCount, withFilterOptions } from "./audit/filter-options.ts"
import { asUnreadable } from "./audit/find-log.ts"
import { reportRuns } from "./audit/report-runs.ts"
import { showRecords } from "./audit/show-records.ts"
import { tailRecords } from "./audit/tail-records.ts"
import { verifyLog } from "./audit/verify-log.ts"
import { otherLogs } from "./audit/other-logs.ts"
import type { CommandOutput } from "./command-output.ts"
import { watchInterrupts } from "./interrupts.ts"
import { leftExitCode } from "./left-exit-code.ts"

type Work<Options> = (
  file: string | undefined,
  options: Options,
  output: CommandOutput,
  signal: AbortSignal,
) => Promise<void>

const TAIL_LINES = 10

/** `glovebox audit`: read and check the record of what agents did. */
export function auditCommand(output: CommandOutput): Command {
  const audit = new Command("audit")
    .helpCommand(false)
    .description("Read and check an audit log, with all its files.")
  const all = [showCommand, tailCommand, verifyCommand, exportCommand, reportCommand]
  for (const make of all) audit.addCommand(make(output))
  return audit
}

function showCommand(output: CommandOutput): Command {
  return withFilterOptions(logCommand("show", "print the records, oldest first"))
    .option("-n, --last <number>", "only the last of them", readCount)
    .option("--json", "print the lines as they are")
    .action(action(output, eachLog(showRecords)))
}

function tailCommand(output: CommandOutput): Command {
  return withFilterOptions(logCommand("tail", "print the last records, and go on with what is written"))
    .option("-n, --lines <number>", "how many of those that are there", readCount, TAIL_LINES)
    .option("-f, --follow", "go on until interrupted (the default)")
    .option("--no-follow", "end after those that are there")
    .option("--json", "print the lines as they are")
    .action(action(output, oneLog(tailRecords)))
}

function verifyCommand(output: CommandOutput): Command {
  return withCheckOptions(logCommand("verify", "check that nothing was changed, and name what was"))
    .option("--json", "print what was found as one JSON object")
    .addHelpText(
      "after",
      `
Exits with 0 when the log is whole, with 1 when it is not, with 3 when it cannot be read,
with 2 for a wrong command line.`,
    )
    .action(action(output, eachLog(verifyLog)))
}

function exportCommand(output: CommandOutput): Command {
  const command = logCommand(
    "export",
    "write the records for another program, with a statement of what they are",
  )
    .option("-o, --out <file>", "where to; <file>.verification.json comes beside it (default: stdout)")
    .addOption(
      new Option("--format <name>", "by default, by the extension of --out, else json").choices(
        AUDIT_EXPORT_FORMATS,
      ),
    )
    .option("--force", "replace a file that is there")
    .option("--json", "print JSON: with --out the statement, else the records")
  return withCheckOptions(withFilterOptions(command))
    .option("-n, --last <number>", "only the last of them", readCount)
    .action(action(output, oneLog(exportRecords)))
}

function reportCommand(output: CommandOutput): Command {
  const command = logCommand(
    "report",
    "tell of each run what code ran, under which policy, what it reached, who approved, and what came out",
  )
    .option("-r, --run <id>", "only of this run")
    .option("--since <time>", "only records not before: 2026-05-01, 2026-05-01T10:30 (UTC), or 2h ago")
    .option("--until <time>", "only records not after")
  return withCheckOptions(command)
    .option("--json", "print one JSON object")
    .addHelpText("after", "\nExits as verify does, for the log that it tells of.")
    .action(action(output, eachLog(reportRuns)))
}

function logCommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .argument("[file]", "the log (default: .glovebox/audit.jsonl)")
}

function withCheckOptions(command: Command): Command {
  return command
    .option("--key <file>", "the public Ed25519 key, as PEM, that its checkpoints must be signed with")
    .option("--head <head>", "what was kept elsewhere: a hash, number:hash, or a file that has it")
    .option("--after <number:hash>", "the last record before these files, where older ones were removed")
}

/** Where no log is named: the usual one, and those beside it. */
function eachLog<Options extends { readonly json?: true; readonly head?: string; readonly after?: string }>(
  work: Work<Options>,
): Work<Options> {
  return async (file, options, output, signal) => {
    const { json, head, after } = options
    // One object, and a place in one log, are of one.
    if ((json ?? head ?? after) !== undefined) return oneLog(work)(file, options, output, signal)
    await work(file, options, output, signal)
    for (const other of file === undefined ? await otherLogs() : []) {
      output.print(`\n${other}`)
      await work(other, options, output, signal)
    }
  }
}

function oneLog<Options>(work: Work<Options>): Work<Options> {
  return async (file, options, output, signal) => {
    const others = file === undefined ? await otherLogs() : []
    if (others.length > 0) output.note(`there is more, which can be named: ${others.join(", ")}`)
    await work(file, options, output, signal)
  }
}

function action<Options>(
  output: CommandOutput,
  work: Work<Options>,
): (file: string | undefined, options: Options) => Promise<void> {
  return async (file, options) => {
    using interrupts = watchInterrupts()
    const signal = AbortSignal.any([interrupts.signal, output.stdout.gone])
    try {
      await work(file, options, output, signal)
    } catch (error) {
      if (!signal.aborted) throw asUnreadable(error)
      output.exitCode = leftExitCode(interrupts, output)
    }
  }
}
