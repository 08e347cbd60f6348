import type { ApprovalProvider } from "../../governance/index.ts"
import { type PolicyInput, SandboxPolicy, type Tier } from "../../policy/index.ts"
import { terminalAt } from "../approval/terminal-at.ts"
import type { Config } from "../config/load-config.ts"
import type { RunOptions } from "../run/job-options.ts"
import { type At, openRules } from "../run/job-setup.ts"
import type { RecordedRun } from "../run/recorded-executor.ts"
import { codeSha256 } from "../run/code-sha256.ts"
import { formatRecord, shownPath } from "../run/run-record.ts"
import { runTask } from "../run/run-task.ts"
import { openExecutor } from "../sandbox-options.ts"
import { DEMO_DATA, DEMO_TASK, readDemoPrograms } from "./demo-files.ts"
import { demoModel } from "./demo-model.ts"

const MOST_TURNS = 5
const NAME = "the demonstration"

/** Wider than deny-all by one name, which no machine has: so that there is a gate, and somebody is asked. */
const GATED: PolicyInput = { network: { allow: ["rates.example:443"] } }
const WITH_GATE: readonly Tier[] = ["docker", "jupyter", "bubblewrap"]

const NEXT = `
Next, with a model of your own:
  export OPENAI_API_KEY=...       or ANTHROPIC_API_KEY, or start Ollama
  npx glovebox run "What is in this file?" --file data.csv --out results
  npx glovebox chat               a conversation, in which files stay
  npx glovebox verify             attacks the sandbox of this machine, and shows what held`

/** `glovebox run --demo`: the whole way, with real code in the real sandbox; only the model and who approves are scripted. */
export async function runDemo(given: RunOptions, at: At): Promise<void> {
  const { output } = at
  const isShown = given.json !== true
  if (isShown) {
    output.print("A demonstration: a scripted model, not a real one, plays an analyst.")
    output.print("Its code is real, and really runs, in a sandbox on this machine that lets nothing out.\n")
  }
  const sandbox = await chooseSandbox(given, at)
  const options: RunOptions = { ...given, sandbox, auditContent: true }
  const config = demoConfig(sandbox)
  const terminal = terminalAt(process.stdin)
  await using rules = await openRules(
    { command: "run --demo", options, config, terminal, answerer: approver(isShown, at) },
    at,
  )
  await using client = demoModel(await readDemoPrograms())
  const end = await runTask(
    {
      task: DEMO_TASK,
      client,
      model: "scripted",
      config,
      rules,
      options,
      files: [DEMO_DATA],
      maxTurns: MOST_TURNS,
      showsTask: true,
      annotate: annotateAttempt,
      // The record below says it all.
      summary: false,
      ...(isShown ? { mode: "all", tell: (line) => output.print(line) } : { mode: "json" }),
    },
    at,
  )
  // Where nothing stopped it, the demonstration has shown the opposite of what it says.
  const leaked = end.runs.some(({ run }) => run?.output.startsWith("sent"))
  if (leaked) output.exitCode = 1
  if (!isShown) return
  if (leaked) output.print("\nLEAKED: the code sent the data away.")
  output.print("\nWhat ran, as the sandbox reported it:")
  for (const line of formatRecord(end.runs)) output.print(`  ${line}`)
  for (const line of whereRecorded(rules.governed.audit?.path)) output.print(line)
  output.print(NEXT)
}

// The kind first, because only where there is a gate can a policy have an allow-list.
async function chooseSandbox(options: RunOptions, at: At): Promise<Tier> {
  await using executor = await openExecutor({ ...options, sandbox: options.sandbox ?? "auto" }, {}, at)
  return executor.kind
}

function demoConfig(sandbox: Tier): Config {
  const policy = WITH_GATE.includes(sandbox) ? new SandboxPolicy(GATED) : undefined
  return { file: undefined, isNamed: false, policy }
}

// There may be nobody at a terminal, and no answer to wait for.
function approver(isShown: boolean, { output }: At): ApprovalProvider {
  return {
    name: NAME,
    ask: async ({ kind, payload, sha256 }) => {
      // As the record of what ran names it.
      const hash = kind === "code" ? codeSha256(payload.codeBlocks) : sha256
      if (isShown) output.print(`approved by ${NAME}, where you would be asked: code ${hash.slice(0, 12)}`)
      return { decision: "approve", by: NAME }
    },
  }
}

function whereRecorded(log: string | undefined): readonly string[] {
  if (log === undefined) return []
  const path = shownPath(log)
  const file = path === ".glovebox/audit.jsonl" ? "" : ` ${path}`
  return [
    `\nAll of it is in ${path}, each record bound to the one before it:`,
    `  npx glovebox audit verify${file}    shows that nothing in it was changed`,
    `  npx glovebox audit report${file}    what ran, under which policy, what it tried to reach, who approved, what came out`,
  ]
}

const ATTEMPT = /^not sent: (.*)$/m

/** Where there is no gate there is no network at all, and nothing saw the attempt: it is told by what the code met. */
function annotateAttempt(recorded: RecordedRun): RecordedRun {
  const { run, network } = recorded
  const error = ATTEMPT.exec(run?.output ?? "")?.[1]
  if (!run || error === undefined || run.denials.length > 0 || !/^none\b/.test(network ?? "")) return recorded
  const message = `the code tried to send the data away, and the sandbox's network is ${network}. It met ${error}`
  return { ...recorded, run: { ...run, denials: [{ resource: "network", message, suggestion: "" }] } }
}
