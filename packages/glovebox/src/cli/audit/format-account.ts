import { z } from "zod"
import { formatDuration } from "../../policy/index.ts"
import { type Row, rowLines } from "./account-rows.ts"
import { formatStep } from "./format-step.ts"
import type { RunAccount } from "./run-account.ts"

const givenSchema = z.array(z.object({ path: z.string(), sha256: z.string() }))

/** The account of a run, for a person: what it was, and then what it did, step by step. */
export function formatAccount(account: RunAccount): string[] {
  const { start, end, agents, steps, leftOut } = account
  const rows: Row[] = [
    ["when", when(account)],
    ["asked", asked(account)],
    ["asked by", detailsOf(account, ["user", "client"])],
    ["with", detailsOf(account, ["model", "sandbox", "file"])],
    ...givenRows(account),
    [
      "outcome",
      end ? [end.outcome, end.stopReason, end.error].filter(Boolean).join(": ") : outcomeUnknown(account),
    ],
    ["answer", answered(account)],
    ["agents", agents.join(", ")],
    ...policyRows(account),
    ...modelRows(account),
    ...sandboxRows(account),
    ["version", start?.version],
    ["left out", leftOut === 0 ? undefined : `${leftOut} more records; glovebox audit show has them`],
  ]
  const code = codeOf(steps)
  const title = account.run === null ? "Outside of any run" : `Run ${account.run}`
  return [
    ...rowLines(`${title}${account.isContinued ? " (continued)" : ""}`, rows, ""),
    ...steps.flatMap((step) => ["", ...formatStep(step, code)]),
  ]
}

/** All code that ran and is told, which need not be told again as the argument of a call. */
function codeOf(steps: RunAccount["steps"]): ReadonlySet<unknown> {
  return new Set(
    steps.flatMap((step) =>
      step.type === "code-run" ? step.data.blocks.flatMap(({ code }) => code ?? []) : [],
    ),
  )
}

function when({ first, last, end, records }: RunAccount): string {
  const took = end?.durationMs === undefined ? "" : `, ${formatDuration(Math.round(end.durationMs))}`
  return `${first.at} to ${last.at}${took}; ${records} records, ${first.seq} to ${last.seq}`
}

function asked({ start }: RunAccount): string | undefined {
  if (!start) return undefined
  const { command, task, taskSha256 } = start
  const words = task ?? (taskSha256 === undefined ? undefined : "a task that was not recorded")
  const hash = taskSha256 === undefined ? "" : ` (sha256 ${taskSha256})`
  return [command, words === undefined ? undefined : `${words}${hash}`].filter(Boolean).join(": ")
}

function answered({ end }: RunAccount): string | undefined {
  if (end?.answerSha256 === undefined) return undefined
  const hash = `sha256 ${end.answerSha256}`
  return end.answer === undefined ? hash : `${end.answer} (${hash})`
}

/** The files that a run was given. */
function givenRows({ start }: RunAccount): Row[] {
  const { files } = start?.details ?? {}
  const { data = [] } = givenSchema.safeParse(files)
  return data.map(({ path, sha256 }) => ["given", `${path}, sha256 ${sha256}`])
}

/** What the commands tell of a run; whatever else a program writes there is its own. */
function detailsOf({ start }: RunAccount, names: readonly string[]): string {
  const details = start?.details ?? {}
  return names
    .flatMap((name) => (typeof details[name] === "string" ? [`${name} ${details[name]}`] : []))
    .join(", ")
}

function outcomeUnknown({ run, isContinued }: RunAccount): string | undefined {
  return run === null || isContinued ? undefined : "not recorded: it goes on, or its process died"
}

function policyRows({ policies }: RunAccount): Row[] {
  const seen = new Set<string>()
  return policies.flatMap(({ sha256, widenings }): Row[] => {
    if (seen.has(sha256)) return []
    seen.add(sha256)
    const reach =
      widenings === undefined
        ? "what it widens was not recorded"
        : widenings.length === 0
          ? "denies all"
          : `wider than deny-all in ${widenings.join("; ")}`
    return [["policy", `sha256 ${sha256}, from ${sourcesOf(policies, sha256)}; ${reach}`]]
  })
}

/** Where a policy came from; that an executor had it is told only where nothing else is known. */
function sourcesOf(policies: RunAccount["policies"], sha256: string): string {
  const sources = policies.filter((policy) => policy.sha256 === sha256).map(({ source }) => source)
  const origins = sources.filter((source) => source !== "executor")
  return (origins.length > 0 ? origins : sources).join(", ")
}

function modelRows({ models }: RunAccount): Row[] {
  return Object.entries(models).map(([model, use]) => {
    const { provider, calls, failed, promptTokens, completionTokens } = use
    const name = [provider, model].filter(Boolean).join(" ")
    const many = `${calls} ${calls === 1 ? "call" : "calls"}${failed > 0 ? `, ${failed} failed` : ""}`
    return ["model", `${name}: ${many}, ${promptTokens} tokens in, ${completionTokens} out`]
  })
}

/** A line for each sandbox, with all that became of it. */
function sandboxRows({ sandboxes }: RunAccount): Row[] {
  const lines = new Map<string, { name: string; events: string[]; about: (string | undefined)[] }>()
  for (const [index, sandbox] of sandboxes.entries()) {
    const { event, executor, containerId, image, imageDigest, reason } = sandbox
    const key = containerId ?? String(index)
    const line = lines.get(key) ?? {
      name: [executor, containerId].filter(Boolean).join(" "),
      events: [],
      about: [],
    }
    lines.set(key, line)
    line.events.push(event)
    const from = [image, imageDigest].filter(Boolean).join(" ")
    line.about.push(from && `image ${from}`, reason)
  }
  return [...lines.values()].map(({ name, events, about }) => [
    "sandbox",
    [`${name} ${events.join(", ")}`, ...new Set(about)].filter(Boolean).join("; "),
  ])
}
