import { Command, InvalidArgumentError, Option } from "commander"
import { GloveboxError } from "../core/index.ts"
import { DockerCommandLineCodeExecutor } from "../executors/docker/index.ts"
import type { CodeBlock, CodeResult } from "../executors/index.ts"
import { loadPolicy, parseDuration } from "../policy/index.ts"
import { languageOf } from "./code-language.ts"
import { CommandFailure, EXIT_USAGE } from "./command-failure.ts"
import type { CommandOutput } from "./command-output.ts"
import { describeEnd } from "./describe-end.ts"
import { withEngineOptions } from "./engine-options.ts"
import { watchInterrupts } from "./interrupts.ts"
import { ProgressLine, pullReporter } from "./progress-line.ts"
import { readCode } from "./read-code.ts"
import { selectBlocks } from "./select-blocks.ts"

const EXIT_NO_READER = 141
const SANDBOXES = ["docker"] as const

interface ExecOptions {
  readonly lang?: string
  readonly sandbox: (typeof SANDBOXES)[number]
  readonly policy?: string
  readonly image?: string
  readonly timeout?: string
  readonly workDir?: string
  readonly dockerHost?: string
  readonly dockerContext?: string
  readonly json?: true
}

/** `glovebox exec`: run code where it can do no harm. */
export function execCommand(output: CommandOutput): Command {
  const command = new Command("exec")
    .summary("run code in the sandbox")
    .description("Run a script, or the fenced blocks of a markdown file, in the sandbox.")
    .argument("[file]", "what to run; - or nothing for stdin")
    .option("-l, --lang <name>", "its language, or markdown; else by the extension or the #! line")
    .addOption(
      new Option("-s, --sandbox <name>", "where to run it").choices(SANDBOXES).default("docker" as const),
    )
    .option("-p, --policy <file>", "what the code may do (default: deny-all)")
    .option("-i, --image <name>", "the image, in place of the policy's")
    .option(
      "-t, --timeout <time>",
      "how long each block may run, such as 30s, in place of the policy's",
      aTime,
    )
    .option("-w, --work-dir <folder>", "its files go in, and those that the code changes come out")
  return withEngineOptions(command)
    .option("--json", "print the result as one JSON object, when it is there")
    .addHelpText(
      "after",
      `
The exit code is the code's own; 124 after a timeout, 128+n after signal n,
1 when it could not be run, 2 for a wrong command line.`,
    )
    .action(async (file: string | undefined, options: ExecOptions) => {
      using interrupts = watchInterrupts()
      const signal = AbortSignal.any([interrupts.signal, output.stdout.gone])
      try {
        await exec(file, options, output, signal)
      } catch (error) {
        if (!signal.aborted) throw error
        output.exitCode = interrupts.exitCode ?? EXIT_NO_READER
      }
    })
}

async function exec(
  file: string | undefined,
  options: ExecOptions,
  output: CommandOutput,
  signal: AbortSignal,
): Promise<void> {
  const code = await readCode(file, { stdin: process.stdin, signal })
  const { blocks, notes } = selectBlocks(code, languageOf(code, options.lang))
  await using executor = await createExecutor(options, signal)
  for (const note of notes) output.note(note)
  const result = await run(executor, blocks, { isStreamed: !options.json, output, signal })
  if (options.json) output.print(JSON.stringify(withoutContents(result)))
  for (const line of describeEnd(result.blocks, blocks.length, executor.policy.fields.limits))
    output.note(line)
  if (options.workDir !== undefined && result.artifactsTruncated) {
    output.note(`not all files came out to ${options.workDir}: they were too many or too large`)
  }
  output.exitCode = result.exitCode
}

async function createExecutor(
  options: ExecOptions,
  signal: AbortSignal,
): Promise<DockerCommandLineCodeExecutor> {
  const { image, timeout, workDir, dockerHost, dockerContext } = options
  const policy = options.policy === undefined ? undefined : await loadPolicy(options.policy, { signal })
  try {
    return new DockerCommandLineCodeExecutor({
      policy,
      image,
      timeout,
      workDir,
      dockerHost,
      dockerContext,
      // One run: what is made ready for the next would be thrown away.
      pool: false,
      interpreter: "fresh",
      deleteTmpFiles: true,
      ...(workDir === undefined && !options.json ? { carry: false } : {}),
    })
  } catch (cause) {
    if (!GloveboxError.is(cause)) throw cause
    // The policy's file was valid, so it is the options in its place that are not.
    throw new CommandFailure(cause.message, { cause, exitCode: EXIT_USAGE })
  }
}

async function run(
  executor: DockerCommandLineCodeExecutor,
  blocks: readonly CodeBlock[],
  {
    isStreamed,
    output,
    signal,
  }: { readonly isStreamed: boolean; readonly output: CommandOutput; readonly signal: AbortSignal },
): Promise<CodeResult> {
  using progress = new ProgressLine(output.stderr)
  const describePull = pullReporter()
  using _pulls = executor.on("pull", (event) => progress.show(describePull(event.progress)))
  progress.show("starting the sandbox")
  let result: CodeResult | undefined
  for await (const event of executor.stream(blocks, { signal })) {
    if (event.type === "started") progress.clear()
    else if (event.type === "finished") result = event.result
    else if (isStreamed && (event.type === "stdout" || event.type === "stderr")) {
      await output[event.type].writeOutput(event, signal)
    }
  }
  if (result) return result
  throw new GloveboxError("SANDBOX_LOST", "The run ended without a result.")
}

function withoutContents(result: CodeResult): object {
  const artifacts = result.artifacts.map(({ path, size, sha256 }) => ({ path, size, sha256 }))
  return { ...result, artifacts }
}

function aTime(text: string): string {
  const ms = parseDuration(text)
  if (ms === undefined || ms === 0) throw new InvalidArgumentError("Write a time such as 30s, 500ms or 2m.")
  return text
}
