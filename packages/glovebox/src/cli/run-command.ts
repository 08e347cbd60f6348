import { Command } from "commander"
import { GloveboxError } from "../core/index.ts"
import { terminalAt } from "./approval/terminal-at.ts"
import { CommandFailure, EXIT_USAGE } from "./command-failure.ts"
import type { CommandOutput } from "./command-output.ts"
import { runDemo } from "./demo/run-demo.ts"
import { watchInterrupts } from "./interrupts.ts"
import { leftExitCode } from "./left-exit-code.ts"
import { ProgressLine } from "./progress-line.ts"
import { DEFAULT_TURNS, type RunOptions, withJobOptions } from "./run/job-options.ts"
import { openJobModel, openRules, readConfig } from "./run/job-setup.ts"
import { readTaskText } from "./run/read-task.ts"
import { runTask } from "./run/run-task.ts"

/** `glovebox run`: an agent on a task, whose code runs in the sandbox. */
export function runCommand(output: CommandOutput): Command {
  const command = new Command("run")
    .description("Give a model a task: it writes code, the code runs in the sandbox, and you get the answer.")
    .argument("[task]", "what to do, in words; - for stdin")
    .option("-f, --file <path>", "a file that the code is to find in its folder; may be given again", collect)
    .option("-o, --out <folder>", "where the files go that the code makes (default: a folder made for it)")
    .option("--json", "print JSON: a line for everything that happens, and the result as the last")
    .option("--demo", "show it with a scripted model: needs no key, no engine, no network")
  return withJobOptions(command)
    .addHelpText(
      "after",
      `
Examples:
  glovebox run --demo
  glovebox run "Which of these orders look wrong?" --file orders.csv --out results
  glovebox run "Summarise it in a sentence." --file report.txt > summary.txt

With stdout in a pipe the answer alone goes there, and the rest to stderr.
It exits with 0 for an answer, 1 when it failed, 2 for a wrong command line or
when there is no model, 3 when --max-turns ended it.
What is to hold for a project can be in glovebox.config.yaml.`,
    )
    .action(async (task: string | undefined, options: RunOptions) => {
      using interrupts = watchInterrupts()
      const signal = AbortSignal.any([interrupts.signal, output.stdout.gone])
      try {
        await run(task, options, output, signal)
      } catch (error) {
        if (!signal.aborted && !GloveboxError.is(error, "RUN_LEFT")) throw error
        output.exitCode = leftExitCode(interrupts, output)
      }
    })
}

function collect(path: string, before: readonly string[] = []): readonly string[] {
  return [...before, path]
}

async function run(
  task: string | undefined,
  options: RunOptions,
  output: CommandOutput,
  signal: AbortSignal,
): Promise<void> {
  using progress = new ProgressLine(output.stderr)
  const at = { output, progress, signal }
  checkOptions(task, options)
  if (options.demo) {
    await runDemo(options, at)
    return
  }
  const text = await readTaskText(task, signal)
  const config = await readConfig(options, at)
  const terminal = terminalAt(process.stdin)
  await using rules = await openRules({ command: "run", options, config, terminal }, at)
  const { client, label } = await openJobModel(options, config, at)
  await using _closing = client
  await runTask(
    {
      // What the user says stays without secrets wherever it goes.
      task: output.redaction.text(text),
      client,
      model: label,
      config,
      rules,
      options,
      files: options.file ?? [],
      maxTurns: options.maxTurns ?? config.max_turns ?? DEFAULT_TURNS,
    },
    at,
  )
}

function refuse(message: string): never {
  throw new CommandFailure(message, { exitCode: EXIT_USAGE })
}

function checkOptions(task: string | undefined, options: RunOptions): void {
  const { demo, model, config, policy, file, workDir, out } = options
  if (demo) {
    const idle = Object.entries({
      task,
      "--model": model,
      "--config": config,
      "--policy": policy,
      "--file": file,
    })
      .filter(([, value]) => value !== undefined)
      .map(([name]) => name)
    if (idle.length > 0)
      refuse(`--demo has its own task, model, data and policy: leave out ${idle.join(", ")}.`)
  }
  if (workDir !== undefined && (file ?? out) !== undefined) {
    refuse("--work-dir is the folder for files in and out: leave out --file and --out, or --work-dir.")
  }
}
