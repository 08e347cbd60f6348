import { Command } from "commander"
import { forbiddenBy } from "../executors/factory/choose-tier.ts"
import { probeTier } from "../executors/factory/probe-tier.ts"
import { SandboxPolicy, loadPolicy } from "../policy/index.ts"
import type { CommandOutput } from "./command-output.ts"
import { type OwnCodeFlags, openOwnCode, ownExecutor, withOwnCodeOptions } from "./governance/own-code.ts"
import { watchInterrupts } from "./interrupts.ts"
import { ProgressLine } from "./progress-line.ts"
import { replLoop } from "./repl/repl-loop.ts"
import { ReplSession } from "./repl/repl-session.ts"
import { type SandboxOptions, sandboxOption, withSandboxOptions } from "./sandbox-options.ts"

const STATEFUL = ["jupyter", "wasm"] as const
type Stateful = (typeof STATEFUL)[number]

type ReplOptions = Omit<SandboxOptions, "sandbox"> & OwnCodeFlags & { readonly sandbox?: Stateful }

/** `glovebox repl`: Python, cell by cell, in a sandbox that keeps its variables. */
export function replCommand(output: CommandOutput): Command {
  const command = new Command("repl").description(
    "Type Python, or pipe it in; each cell runs in one sandbox, which keeps variables and files.",
  )
  const sandbox = sandboxOption(STATEFUL, "where to run it (default: jupyter where it works, else wasm)")
  return withOwnCodeOptions(withSandboxOptions(command, sandbox))
    .addHelpText(
      "after",
      `
Ctrl-C interrupts a cell, Ctrl-D leaves, :help tells the rest. With input from a pipe
it goes on after a cell that fails, and exits with 1 if one did.`,
    )
    .action(async (options: ReplOptions) => {
      using interrupts = watchInterrupts()
      const signal = AbortSignal.any([interrupts.signal, output.stdout.gone])
      try {
        await repl(options, output, signal)
      } catch (error) {
        if (!signal.aborted) throw error
        output.exitCode = interrupts.exitCode ?? 141
      }
    })
}

async function repl(options: ReplOptions, output: CommandOutput, signal: AbortSignal): Promise<void> {
  const input = process.stdin
  const isTerminal = input.isTTY && output.stdout.isTerminal
  using progress = new ProgressLine(output.stderr)
  progress.show("looking for a sandbox")
  const { sandbox, because } = await chooseStateful(options, signal)
  const more = { wasm: { isolation: "session", pool: false } } as const
  const at = { output, progress, signal }
  await using governed = await openOwnCode("repl", options, at)
  await using executor = await governed.openExecutor({ ...options, sandbox }, more, at)
  if (because !== undefined) output.note(`${because}; so this is ${sandbox}`)
  progress.show("starting the sandbox")
  await executor.start({ signal })
  progress.clear()
  const { policy } = executor
  const session = new ReplSession({
    executor: ownExecutor(governed, executor, options),
    isKernel: sandbox === "jupyter",
    limits: policy.fields.limits,
    output,
    workDir: options.workDir,
  })
  if (isTerminal) output.print(`Python in ${sandbox}: ${executor.describe().what}. :help for help.`)
  const record = await governed.beginRun(undefined, { sandbox, policySha256: policy.sha256 }, signal)
  try {
    await replLoop({ session, output, input, isTerminal, signal })
    await record.end()
  } catch (error) {
    await record.fail(error, signal)
    throw error
  }
  if (!isTerminal && session.hasFailed) output.exitCode = 1
}

/** The sandbox that is asked for, or a kernel where that works and may; tells why it is not. */
async function chooseStateful(
  options: ReplOptions,
  signal: AbortSignal,
): Promise<{ readonly sandbox: Stateful; readonly because?: string }> {
  const { sandbox, image, dockerHost, dockerContext } = options
  if (sandbox !== undefined) return { sandbox }
  // Only a kernel has an engine and an image.
  if ([image, dockerHost, dockerContext].some((option) => option !== undefined)) return { sandbox: "jupyter" }
  const policy =
    options.policy === undefined ? new SandboxPolicy() : await loadPolicy(options.policy, { signal })
  const forbidden = forbiddenBy(policy, "jupyter")
  if (forbidden !== undefined) return { sandbox: "wasm", because: forbidden }
  if (forbiddenBy(policy, "wasm") !== undefined) return { sandbox: "jupyter" }
  const { isAvailable, detail } = await probeTier("jupyter", {
    image: policy.fields.image,
    pull: "never",
    signal,
  })
  return isAvailable ? { sandbox: "jupyter" } : { sandbox: "wasm", because: detail }
}
