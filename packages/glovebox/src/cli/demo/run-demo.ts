import type { RunOptions } from "../run/job-options.ts"
import type { At } from "../run/job-setup.ts"
import type { RecordedRun } from "../run/recorded-executor.ts"
import { formatRecord } from "../run/run-record.ts"
import { runTask } from "../run/run-task.ts"
import { DEMO_DATA, DEMO_TASK, readDemoPrograms } from "./demo-files.ts"
import { demoModel } from "./demo-model.ts"

const MOST_TURNS = 5

const NEXT = `
Next, with a model of your own:
  export OPENAI_API_KEY=...       or ANTHROPIC_API_KEY, or start Ollama
  npx glovebox run "What is in this file?" --file data.csv --out results
  npx glovebox chat               a conversation, in which files stay
  npx glovebox verify             attacks the sandbox of this machine, and shows what held`

/** `glovebox run --demo`: the whole way, with real code in the real sandbox; only the model is scripted. */
export async function runDemo(options: RunOptions, at: At): Promise<void> {
  const { output } = at
  const isShown = options.json !== true
  if (isShown) {
    output.print("A demonstration: a scripted model, not a real one, plays an analyst.")
    output.print("Its code is real, and really runs, in a sandbox on this machine that lets nothing out.\n")
  }
  await using client = demoModel(await readDemoPrograms())
  const config = { file: undefined, isNamed: false, policy: undefined }
  const end = await runTask(
    {
      task: DEMO_TASK,
      client,
      config,
      options,
      files: [DEMO_DATA],
      maxTurns: MOST_TURNS,
      ask: undefined,
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
  output.print(NEXT)
}

const ATTEMPT = /^not sent: (.*)$/m

/** What the code was not let reach: no gate saw it, because there is no network at all, so it is told by what it met. */
function annotateAttempt(recorded: RecordedRun): RecordedRun {
  const { run, network } = recorded
  const error = ATTEMPT.exec(run?.output ?? "")?.[1]
  if (!run || error === undefined || network === undefined || !/^none\b/.test(network)) return recorded
  const message = `the code tried to send the data away, and the sandbox's network is ${network}. It met ${error}`
  return { ...recorded, run: { ...run, denials: [{ resource: "network", message, suggestion: "" }] } }
}
