import { writeFile } from "node:fs/promises"
import { Command, Option } from "commander"
import { errorMessage } from "../internal/error-message.ts"
import { SandboxPolicy, loadPolicy } from "../policy/index.ts"
import { PATHS, type SandboxPath } from "../probes/index.ts"
import {
  PRESETS,
  type Preset,
  VERIFIED_TIERS,
  type VerifiedTier,
  type Paint,
  type VerifyMode,
  type VerifyOptions,
  type VerifyReport,
  comparePreset,
  formatComparison,
  formatJunit,
  formatTable,
  listProbes,
  verify,
} from "../verify/index.ts"
import { CommandFailure, EXIT_FAILED, EXIT_USAGE } from "./command-failure.ts"
import type { CommandOutput } from "./command-output.ts"
import { withEngineOptions } from "./engine-options.ts"
import { watchInterrupts } from "./interrupts.ts"
import { ProgressLine } from "./progress-line.ts"

interface VerifyCommandOptions {
  readonly sandbox: VerifiedTier
  readonly policy?: string
  readonly image?: string
  readonly path?: SandboxPath
  readonly quick?: true
  readonly full?: true
  readonly only?: string
  readonly list?: true
  readonly preset?: Preset
  readonly json?: true
  readonly junit?: string
  readonly dockerHost?: string
  readonly dockerContext?: string
}

/** `glovebox verify`: attack the sandbox, and see what holds. */
export function verifyCommand(output: CommandOutput): Command {
  const command = new Command("verify")
    .description(
      "Run attacks in the sandbox that a policy makes, watch from outside, and compare with what the policy promises.",
    )
    .addOption(
      new Option("-s, --sandbox <name>", "the kind of sandbox").choices(VERIFIED_TIERS).default("docker"),
    )
    .option("-p, --policy <file>", "what the code may do (default: deny-all)")
    .option("-i, --image <name>", "the image, in place of the policy's")
    .addOption(
      new Option(
        "--path <name>",
        "how sandboxes are handed out: made for the call, from the pool, or one for all calls",
      ).choices(PATHS),
    )
    .option("--quick", "about half of the probes, in seconds")
    .addOption(
      new Option("--full", "also show of each probe that it can fail, in a weakened sandbox").conflicts(
        "quick",
      ),
    )
    .option("--only <ids>", "these probes, with commas between")
    .option("--list", "print the probes, and run none")
    .addOption(
      new Option("--preset <name>", "also attack containers with the settings of others, and show both")
        .choices(Object.keys(PRESETS))
        .conflicts(["list", "junit"]),
    )
  return withEngineOptions(command)
    .option("--json", "print the report as one JSON object")
    .option("--junit <file>", "write the report as JUnit XML too")
    .addHelpText(
      "after",
      `
Exits with 0 when every probe was observed as the policy expects it, with 1 when one was
not, could not be tried, or the sandbox could not be made; with 2 for a wrong command line.`,
    )
    .action(async (options: VerifyCommandOptions) => {
      using interrupts = watchInterrupts()
      try {
        await runVerify(options, output, interrupts.signal)
      } catch (error) {
        if (interrupts.exitCode === undefined) throw error
        output.exitCode = interrupts.exitCode
      }
    })
}

async function runVerify(
  options: VerifyCommandOptions,
  output: CommandOutput,
  signal: AbortSignal,
): Promise<void> {
  const policy =
    options.policy === undefined ? new SandboxPolicy() : await loadPolicy(options.policy, { signal })
  const { sandbox, path, image, dockerHost, dockerContext } = options
  const chosen = { sandbox, path, image, mode: modeOf(options) }
  if (options.list) return printList(policy, chosen, options, output)
  using progress = new ProgressLine(output.stderr)
  progress.show("making the sandbox")
  let done = 0
  const settings = {
    ...chosen,
    dockerHost,
    dockerContext,
    only: idsOf(options),
    signal,
    onProbe: ({ id }) => {
      done += 1
      progress.show(`${done} probes done, the last of them ${id}`)
    },
  } satisfies VerifyOptions
  const paint: Paint = (style, text) => output.stdout.style(style, text)
  if (options.preset !== undefined) {
    const comparison = await comparePreset(policy, { ...settings, preset: options.preset })
    progress.clear()
    output.print(options.json ? JSON.stringify(comparison) : formatComparison(comparison, paint))
    // What others let through is what is shown, and no failure.
    output.exitCode = comparison.glovebox.pass ? 0 : EXIT_FAILED
    return
  }
  const report = await verify(policy, settings)
  progress.clear()
  if (options.junit !== undefined) await writeReport(options.junit, report)
  if (options.json) output.print(JSON.stringify(report))
  else output.print(formatTable(report, paint))
  output.exitCode = report.pass ? 0 : EXIT_FAILED
}

function modeOf({ quick, full }: VerifyCommandOptions): VerifyMode {
  if (quick) return "quick"
  return full ? "full" : "standard"
}

function idsOf({ only }: VerifyCommandOptions): string[] | undefined {
  if (only === undefined) return undefined
  const ids = only.split(",").map((id) => id.trim())
  if (ids.every((id) => id !== "")) return ids
  throw new CommandFailure("--only has an empty name in it: write ids with commas between.", {
    exitCode: EXIT_USAGE,
  })
}

function printList(
  policy: SandboxPolicy,
  chosen: {
    readonly sandbox: VerifiedTier
    readonly path: SandboxPath | undefined
    readonly image: string | undefined
    readonly mode: VerifyMode
  },
  { json }: VerifyCommandOptions,
  output: CommandOutput,
): void {
  const probes = listProbes(policy, chosen)
  if (json) {
    output.print(JSON.stringify(probes))
    return
  }
  const width = Math.max(0, ...probes.map(({ id }) => id.length))
  for (const { id, isQuick, expected, title } of probes) {
    output.print(`${id.padEnd(width)}  ${isQuick ? "quick" : "     "}  ${expected.padEnd(7)}  ${title}`)
  }
}

async function writeReport(file: string, report: VerifyReport): Promise<void> {
  try {
    await writeFile(file, formatJunit(report))
  } catch (error) {
    throw new CommandFailure(`The report could not be written to ${file}: ${errorMessage(error)}`, {
      cause: error,
    })
  }
}
