import { Command } from "commander"
import { stringify } from "yaml"
import {
  type PolicyChange,
  SandboxPolicy,
  checkMounts,
  formatBytes,
  formatDuration,
  loadPolicy,
} from "../policy/index.ts"
import type { CommandOutput } from "./command-output.ts"

interface JsonOption {
  readonly json?: true
}

/** `glovebox policy`: look at what a sandbox may do before anything runs in it. */
export function policyCommand(output: CommandOutput): Command {
  const policy = new Command("policy").description("show, check and compare sandbox policies")
  policy
    .command("show [file]")
    .description("print the whole policy with its defaults; without a file, deny-all")
    .option("--json", "print JSON")
    .action(async (file: string | undefined, options: JsonOption) => {
      show(await read(file), options, output)
    })
  policy
    .command("check <file>")
    .description("check the policy and its mounts, and list what is wider than deny-all")
    .option("--json", "print JSON")
    .action(async (file: string, options: JsonOption) => {
      await check(file, options, output)
    })
  policy
    .command("diff <before> <after>")
    .description("list each change, and whether it widens the sandbox")
    .option("--fail-on-widening", "exit with 1 when a change widens it")
    .option("--json", "print JSON")
    .action(
      async (before: string, after: string, options: JsonOption & { readonly failOnWidening?: true }) => {
        const changes = (await loadPolicy(after)).diff(await loadPolicy(before))
        printChanges(changes, options, output, "The policies are the same.")
        if (options.failOnWidening && changes.some(({ effect }) => effect === "widens")) output.exitCode = 1
      },
    )
  return policy
}

async function read(file: string | undefined): Promise<SandboxPolicy> {
  return file === undefined ? new SandboxPolicy() : loadPolicy(file)
}

function show(policy: SandboxPolicy, options: JsonOption, output: CommandOutput): void {
  if (options.json) {
    output.print(JSON.stringify({ sha256: policy.sha256, policy }))
    return
  }
  const { limits, ...rest } = policy.toJSON()
  const readable = {
    ...rest,
    limits: {
      ...limits,
      wall: formatDuration(limits.wall),
      memory: formatBytes(limits.memory),
      workspace: formatBytes(limits.workspace),
      output: formatBytes(limits.output),
    },
  }
  output.print(`# sha256 ${policy.sha256}\n${stringify(readable).trimEnd()}`)
}

async function check(file: string, options: JsonOption, output: CommandOutput): Promise<void> {
  const policy = await loadPolicy(file)
  await checkMounts(policy)
  const widenings = policy.widenings()
  if (options.json) {
    output.print(JSON.stringify({ sha256: policy.sha256, widenings }))
    return
  }
  output.print(`${file} is valid (sha256 ${policy.sha256}).`)
  printChanges(widenings, options, output, "It denies all.")
}

function printChanges(
  changes: readonly PolicyChange[],
  options: JsonOption,
  output: CommandOutput,
  none: string,
): void {
  if (options.json) output.print(JSON.stringify({ changes }))
  else if (changes.length === 0) output.print(none)
  else
    for (const { effect, path, from, to } of changes)
      output.print(`${effect.padEnd(7)}  ${path}: ${from} -> ${to}`)
}
