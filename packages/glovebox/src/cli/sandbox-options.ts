import { type Command, InvalidArgumentError, Option } from "commander"
import { GloveboxError } from "../core/index.ts"
import { type ChosenExecutor, type CreateExecutorOptions, createExecutor } from "../executors/index.ts"
import type { SandboxChoice } from "../executors/index.ts"
import { TIERS, loadPolicy, parseDuration } from "../policy/index.ts"
import { CommandFailure, EXIT_USAGE } from "./command-failure.ts"
import type { CommandOutput } from "./command-output.ts"
import { withEngineOptions } from "./engine-options.ts"
import { type ProgressLine, pullReporter } from "./progress-line.ts"

/** What the options of a command that runs code are read as. */
export interface SandboxOptions<Choice extends SandboxChoice = SandboxChoice> {
  readonly sandbox: Choice
  readonly policy?: string
  readonly image?: string
  readonly timeout?: string
  readonly workDir?: string
  readonly dockerHost?: string
  readonly dockerContext?: string
}

export const SANDBOXES = ["auto", ...TIERS] as const

/** Gives a command the options that say where code runs and what it may do there. */
export function withSandboxOptions(command: Command, sandbox: Option): Command {
  return withEngineOptions(
    command
      .addOption(sandbox)
      .option("-p, --policy <file>", "what the code may do (default: deny-all)")
      .option("-i, --image <name>", "the image, in place of the policy's")
      .option(
        "-t, --timeout <time>",
        "how long each block may run, such as 30s, in place of the policy's",
        aTime,
      )
      .option("-w, --work-dir <folder>", "its files go in, and those that the code changes come out"),
  )
}

export function sandboxOption(choices: readonly SandboxChoice[], description: string): Option {
  return new Option("-s, --sandbox <name>", description).choices(choices)
}

/** Where a command prints, and what ends it. */
export interface OpenAt {
  readonly output: CommandOutput
  readonly progress: ProgressLine
  readonly signal: AbortSignal
}

/** The executor that the options ask for; says on stderr which it is where that may surprise. */
export async function openExecutor(
  options: SandboxOptions,
  more: CreateExecutorOptions,
  { output, progress, signal }: OpenAt,
): Promise<ChosenExecutor> {
  const { sandbox, image, timeout, workDir, dockerHost, dockerContext } = options
  const policy = options.policy === undefined ? undefined : await loadPolicy(options.policy, { signal })
  const describePull = pullReporter()
  progress.show("looking for a sandbox")
  const executor = await createExecutor({
    sandbox,
    policy,
    image,
    timeout,
    workDir,
    dockerHost,
    dockerContext,
    onPull: (event) => progress.show(describePull(event)),
    signal,
    ...more,
  }).catch((cause: unknown) => {
    throw isUsage(cause) ? new CommandFailure(cause.message, { cause, exitCode: EXIT_USAGE }) : cause
  })
  progress.clear()
  const { sandbox: chosen, what, tried } = executor.describe()
  if (chosen !== "docker" && tried.length > 0) {
    const reasons = tried.map(({ reason }) => reason).join(", and ")
    output.note(`${reasons}; so the code runs in ${chosen}: ${what}. glovebox doctor tells more.`)
  }
  return executor
}

// The policy's file was valid, so it is the options in its place that are not.
function isUsage(error: unknown): error is GloveboxError {
  return GloveboxError.is(error) && ["OPTION_INVALID", "POLICY_INVALID"].includes(error.code)
}

function aTime(text: string): string {
  const ms = parseDuration(text)
  if (ms === undefined || ms === 0) throw new InvalidArgumentError("Write a time such as 30s, 500ms or 2m.")
  return text
}
