import { Command } from "commander"
import type {
  CodeBlock,
  CodeExecutor,
  CodeResult,
  CreateExecutorOptions,
  ExecutorDescription,
  RichOutput,
} from "../executors/index.ts"
import { withoutResult } from "../executors/result-of.ts"
import { languageOf } from "./code-language.ts"
import { CommandFailure, EXIT_USAGE } from "./command-failure.ts"
import type { CommandOutput } from "./command-output.ts"
import { describeDenials } from "./describe-denials.ts"
import { describeEnd } from "./describe-end.ts"
import type { AuditPlace } from "./governance/command-governance.ts"
import { type OwnCodeFlags, openOwnCode, ownExecutor, withOwnCodeOptions } from "./governance/own-code.ts"
import { jsonLine } from "../internal/safe-text.ts"
import { watchInterrupts } from "./interrupts.ts"
import { leftExitCode } from "./left-exit-code.ts"
import { ProgressLine } from "./progress-line.ts"
import { readCode } from "./read-code.ts"
import { SANDBOXES, type SandboxOptions, sandboxOption, withSandboxOptions } from "./sandbox-options.ts"
import { selectBlocks } from "./select-blocks.ts"

interface ExecOptions extends SandboxOptions, OwnCodeFlags {
  readonly code?: string
  readonly lang?: string
  readonly dangerouslyRunOnHost?: true
  readonly json?: true
}

/** `glovebox exec`: run code where it can do no harm. */
export function execCommand(output: CommandOutput): Command {
  const command = new Command("exec")
    .description("Run a script, or the fenced blocks of a markdown file, in the sandbox.")
    .argument("[file]", "what to run; - or nothing for stdin")
    .option("-c, --code <text>", "run this in place of a file; Python, unless --lang says else")
    .option("-l, --lang <name>", "its language, or markdown; else by the extension or the #! line")
  const sandbox = sandboxOption(
    SANDBOXES,
    "where to run it; auto is docker where an engine answers, else wasm",
  ).default("auto")
  return withOwnCodeOptions(withSandboxOptions(command, sandbox))
    .option("--dangerously-run-on-host", "what --sandbox local, which is no sandbox, needs")
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
        output.exitCode = leftExitCode(interrupts, output)
      }
    })
}

async function exec(
  file: string | undefined,
  options: ExecOptions,
  output: CommandOutput,
  signal: AbortSignal,
): Promise<void> {
  checkHost(options)
  const { blocks, notes } = await readBlocks(file, options, signal)
  using progress = new ProgressLine(output.stderr)
  const at = { output, progress, signal }
  await using governed = await openOwnCode("exec", options, at)
  await using executor = await governed.openExecutor(options, forOneRun(options), at)
  for (const note of notes) output.note(note)
  const { policy } = executor
  const { sandbox } = executor.describe()
  const record = await governed.beginRun(undefined, { file, sandbox, policySha256: policy.sha256 }, signal)
  let result: CodeResult
  try {
    result = await run(ownExecutor(governed, executor, options), blocks, {
      ...at,
      isStreamed: !options.json,
    })
    await record.end({ stopReason: `The code ended with ${result.exitCode}.` })
  } catch (error) {
    await record.fail(error, signal)
    throw error
  }
  if (options.json) printJson(forPrograms(result, executor.describe(), governed.audit), options, output)
  for (const line of describeEnd(result.blocks, blocks.length, policy.fields.limits)) output.note(line)
  for (const line of describeDenials(result)) output.note(line)
  if (options.workDir !== undefined && result.artifactsTruncated) {
    output.note(`not all files came out to ${options.workDir}: they were too many or too large`)
  }
  output.exitCode = result.exitCode
}

async function readBlocks(
  file: string | undefined,
  { code, lang }: ExecOptions,
  signal: AbortSignal,
): Promise<ReturnType<typeof selectBlocks>> {
  if (code === undefined) {
    const read = await readCode(file, { stdin: process.stdin, signal })
    return selectBlocks(read, languageOf(read, lang))
  }
  if (file !== undefined) {
    throw new CommandFailure(`Both a file, ${file}, and --code were given: name one.`, {
      exitCode: EXIT_USAGE,
    })
  }
  if (code.trim() === "") throw new CommandFailure("--code is empty: there is nothing to run.")
  const given = { text: code, name: "--code" }
  return selectBlocks(given, languageOf(given, lang ?? "python"))
}

function checkHost({ sandbox, dangerouslyRunOnHost }: ExecOptions): void {
  if (sandbox === "local" && !dangerouslyRunOnHost) {
    throw new CommandFailure(
      "local is no sandbox: the code would run on this machine itself, with all your rights. Use --sandbox docker, bubblewrap or wasm; for code that you trust as your own, add --dangerously-run-on-host.",
      { exitCode: EXIT_USAGE },
    )
  }
  if (sandbox !== "local" && dangerouslyRunOnHost) {
    throw new CommandFailure("--dangerously-run-on-host is for --sandbox local, and nothing else.", {
      exitCode: EXIT_USAGE,
    })
  }
}

// What is made ready for a next run would be thrown away.
function forOneRun({ workDir, json, dangerouslyRunOnHost }: ExecOptions): CreateExecutorOptions {
  const once = { pool: false, deleteTmpFiles: true } as const
  return {
    docker: { ...once, interpreter: "fresh" },
    jupyter: { deleteTmpFiles: true },
    bubblewrap: { ...once, interpreter: "fresh" },
    wasm: once,
    dangerouslyRunOnHost,
    ...(workDir === undefined && !json ? { carry: false } : {}),
  }
}

async function run(
  executor: CodeExecutor,
  blocks: readonly CodeBlock[],
  {
    isStreamed,
    output,
    progress,
    signal,
  }: {
    readonly isStreamed: boolean
    readonly output: CommandOutput
    readonly progress: ProgressLine
    readonly signal: AbortSignal
  },
): Promise<CodeResult> {
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
  throw withoutResult()
}

function printJson(value: object, { redact }: ExecOptions, output: CommandOutput): void {
  if (redact) output.printJson(value)
  else output.stdout.putClean(`${jsonLine(value)}\n`)
}

function forPrograms(
  result: CodeResult,
  { sandbox, because, tried }: ExecutorDescription,
  audit: AuditPlace | undefined,
): object {
  const artifacts = result.artifacts.map(({ path, size, sha256 }) => ({ path, size, sha256 }))
  const blocks = result.blocks.map((block) => ({ ...block, outputs: block.outputs?.map(withoutBytes) }))
  const outputs = result.outputs?.map(withoutBytes)
  return { ...result, blocks, artifacts, outputs, chosen: { sandbox, because, tried }, audit }
}

// A picture is in the artifact that it names.
function withoutBytes(output: RichOutput): object {
  return { ...output, data: output.data instanceof Uint8Array ? undefined : output.data }
}
