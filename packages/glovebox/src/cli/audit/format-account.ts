import { formatDuration } from "../../policy/index.ts"
import { type Row, rowLines } from "./account-rows.ts"
import { formatStep } from "./format-step.ts"
import type { RunAccount } from "./run-account.ts"

/** The account of a run, for a person: what it was, and then what it did, step by step. */
export function formatAccount(account: RunAccount): string[] {
  const { start, end, agents, steps, leftOut } = account
  const rows: Row[] = [
    ["when", when(account)],
    ["asked", asked(account)],
    [
      "outcome",
      end ? [end.outcome, end.stopReason, end.error].filter(Boolean).join(": ") : outcomeUnknown(account),
    ],
    ["agents", agents.join(", ")],
    ...policyRows(account),
    ...modelRows(account),
    ...sandboxRows(account),
    ["version", start?.version],
    ["left out", leftOut === 0 ? undefined : `${leftOut} more records; glovebox audit show has them`],
  ]
  const title = account.run === null ? "Outside of any run" : `Run ${account.run}`
  return [
    ...rowLines(`${title}${account.isContinued ? " (continued)" : ""}`, rows, ""),
    ...steps.flatMap((step) => ["", ...formatStep(step)]),
  ]
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

function outcomeUnknown({ run, isContinued }: RunAccount): string | undefined {
  return run === null || isContinued ? undefined : "not recorded: it goes on, or its process died"
}

function policyRows({ policies }: RunAccount): Row[] {
  return policies.map(({ sha256, source, widenings }) => [
    "policy",
    [
      `sha256 ${sha256}, from ${source}; `,
      widenings === undefined
        ? "what it widens was not recorded"
        : widenings.length === 0
          ? "denies all"
          : `wider than deny-all in ${widenings.join("; ")}`,
    ].join(""),
  ])
}

function modelRows({ models }: RunAccount): Row[] {
  return Object.entries(models).map(([model, { calls, failed, promptTokens, completionTokens }]) => [
    "model",
    `${model}: ${calls} ${calls === 1 ? "call" : "calls"}${failed > 0 ? `, ${failed} failed` : ""}, ${promptTokens} tokens in, ${completionTokens} out`,
  ])
}

function sandboxRows({ sandboxes }: RunAccount): Row[] {
  return sandboxes.map(({ event, executor, containerId, image, imageDigest, reason }) => [
    "sandbox",
    [`${executor} ${event}`, containerId, [image, imageDigest].filter(Boolean).join(" "), reason]
      .filter(Boolean)
      .join(", "),
  ])
}
