import { existsSync } from "node:fs"
import { Command } from "commander"
import {
  type GateAnswer,
  type GateRequest,
  answerApproval,
  listApprovals,
  terminalApproval,
} from "../governance/approval/index.ts"
import { requestLines } from "../governance/approval/terminal/request-lines.ts"
import { rowsOf } from "../governance/approval/terminal/shown-line.ts"
import { CommandFailure, EXIT_USAGE } from "./command-failure.ts"
import type { CommandOutput } from "./command-output.ts"
import { watchInterrupts } from "./interrupts.ts"
import { leftExitCode } from "./left-exit-code.ts"

interface FolderOptions {
  readonly folder: string
}

interface ListOptions extends FolderOptions {
  readonly json?: true
}

interface AnswerOptions extends FolderOptions {
  readonly reason?: string
  readonly sha256?: string
}

const COLUMNS = 160

/** `glovebox approvals`: see what waits for an answer in a folder, and answer it. */
export function approvalsCommand(output: CommandOutput): Command {
  const approvals = new Command("approvals")
    .helpCommand(false)
    .description(
      "See what waits in a folder of approvals, such as that of glovebox mcp --approvals, and answer it.",
    )
  approvals.addCommand(
    inFolder("list", "print what waits, the oldest first")
      .option("--json", "print the requests as one JSON array")
      .action(async (options: ListOptions) => list(options, output)),
  )
  approvals.addCommand(
    inFolder("answer", "answer a request; without a word for it, or for all that wait, on this terminal")
      .argument("[id]", "which one")
      .argument("[decision]", "approve or deny")
      .option("--reason <text>", "why it is denied, which whoever asked is told")
      .option("--sha256 <hash>", "of what you have looked at: anything else is not approved")
      .action(async (id: string | undefined, decision: string | undefined, options: AnswerOptions) => {
        using interrupts = watchInterrupts()
        const { signal } = interrupts
        try {
          if (id !== undefined && decision !== undefined) await answer(id, decision, options, output)
          else await ask(id, options, output, signal)
        } catch (error) {
          if (!signal.aborted) throw error
          output.exitCode = leftExitCode(interrupts, output)
        }
      }),
  )
  return approvals
}

function inFolder(name: string, summary: string): Command {
  return new Command(name)
    .summary(summary)
    .description(`${summary[0]?.toUpperCase()}${summary.slice(1)}.`)
    .option("-f, --folder <folder>", "where it waits", ".glovebox/approvals")
}

async function list(options: ListOptions, output: CommandOutput): Promise<void> {
  const waiting = await waitingIn(options, output)
  if (options.json) {
    output.printJson(waiting)
    return
  }
  if (waiting.length === 0) output.print("Nothing waits for an answer.")
  const columns = process.stdout.isTTY ? process.stdout.columns || COLUMNS : COLUMNS
  for (const request of waiting) {
    for (const row of rowsOf(requestLines(request, request.payload), columns)) output.print(row)
  }
}

async function answer(
  id: string,
  decision: string,
  { folder, reason, sha256 }: AnswerOptions,
  output: CommandOutput,
): Promise<void> {
  if (decision !== "approve" && decision !== "deny") {
    throw new CommandFailure(`${decision} is no answer: approve or deny.`, { exitCode: EXIT_USAGE })
  }
  checkFolder(folder)
  await answerApproval(folder, id, { decision, reason, sha256 })
  output.print(`${decision === "approve" ? "approved" : "denied"} ${id}`)
}

/** Asks whoever is at the terminal, who sees all of what they answer to. */
async function ask(
  id: string | undefined,
  options: AnswerOptions,
  output: CommandOutput,
  signal: AbortSignal,
): Promise<void> {
  const waiting = await waitingIn(options, output)
  const asked = id === undefined ? waiting : waiting.filter((request) => request.id === id)
  if (asked.length === 0)
    output.print(id === undefined ? "Nothing waits for an answer." : `${id} does not wait.`)
  if (asked.length > 0 && (!process.stdin.isTTY || !process.stderr.isTTY)) {
    throw new CommandFailure("There is no terminal to ask on: answer <id> approve, or deny.", {
      exitCode: EXIT_USAGE,
    })
  }
  const person = terminalApproval()
  for (const request of asked) {
    // What it gives is checked where it is written.
    const said = (await person.ask(request, { signal })) as GateAnswer
    await answerApproval(options.folder, request.id, { ...said, sha256: request.sha256 })
  }
}

async function waitingIn({ folder }: FolderOptions, output: CommandOutput): Promise<readonly GateRequest[]> {
  checkFolder(folder)
  return listApprovals(folder, { onRefused: (file, why) => output.note(`${file} is no request: ${why}`) })
}

function checkFolder(folder: string): void {
  if (existsSync(folder)) return
  throw new CommandFailure(`There is no folder ${folder}: name it by --folder.`, { exitCode: EXIT_USAGE })
}
