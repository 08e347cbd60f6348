import type { AuditData } from "../../governance/index.ts"
import { summarizeAuditData } from "../../governance/audit/format-audit-record.ts"
import { formatDuration } from "../../policy/index.ts"
import { type Row, rowLines, textLines } from "./account-rows.ts"
import type { AccountStep, ApprovalStep, CodeStep, ToolStep } from "./run-account.ts"

const INDENT = "  "

/** One thing that a run did, or was kept from. */
export function formatStep(step: AccountStep): string[] {
  const title = (what: string): string =>
    `#${step.seq} ${step.at} ${what}${step.agent === null ? "" : `, by ${step.agent}`}`
  if (step.type === "code-run") return formatCode(step, title(`code run ${step.data.id}`))
  const [what, rows] = rowsOf(step)
  return rowLines(title(what), rows, INDENT)
}

function rowsOf(step: Exclude<AccountStep, CodeStep>): [string, Row[]] {
  if (step.type === "tool-call") return [`call of ${step.data.tool}`, toolRows(step)]
  if (step.type === "approval") return [`approval of ${aboutOf(step)}`, approvalRows(step)]
  return [step.record.kind, [["what", summarizeAuditData(step.record)]]]
}

function formatCode({ data, approval, egress, secrets }: CodeStep, title: string): string[] {
  const [head = "", ...approved] = rowLines(
    title,
    [["together", data.codeSha256 && `sha256 ${data.codeSha256}`], ...approvalOf(approval)],
    INDENT,
  )
  const code = data.blocks.flatMap((block) => [
    ...rowLines("", [["code", `${block.language}, sha256 ${block.sha256}`]], INDENT).slice(1),
    ...textLines(block.code, `${INDENT}  `),
  ])
  const rows: Row[] = [
    ["policy", data.policySha256 && `sha256 ${data.policySha256}`],
    ["image", [data.image, data.imageDigest].filter(Boolean).join(" ")],
    ["sandbox", listed([data.executor, data.runtime, data.isolation, data.containerId])],
    ...egress.map(egressRow),
    ...secrets.map(({ name, host, how }): Row => ["secret", listed([`${name} for ${host}`, how])]),
    ["ended", endOf(data)],
    ["limits", data.limitsHit && data.limitsHit.length > 0 ? `hit ${data.limitsHit.join(", ")}` : undefined],
    ["output", outputOf(data)],
  ]
  const files = (data.artifacts ?? []).map(({ path, size, sha256 }): Row => [
    "file",
    `${path}, ${size} bytes, sha256 ${sha256}`,
  ])
  return [
    head,
    ...code,
    ...approved,
    ...rowLines("", rows, INDENT).slice(1),
    ...textLines(data.output, `${INDENT}  `),
    ...rowLines("", files, INDENT).slice(1),
  ]
}

function toolRows({ data, approval }: ToolStep): Row[] {
  return [
    ["id", data.id],
    ["risk", data.risk],
    ["arguments", data.argumentsSha256 && `sha256 ${data.argumentsSha256}`],
    [
      "",
      data.arguments === undefined
        ? undefined
        : summarizeAuditData({ data: { arguments: data.arguments as never } }),
    ],
    ...(approval ? approvalOf(approval) : []),
    ["ended", endOf(data)],
    ["result", data.resultSha256 && `sha256 ${data.resultSha256}`],
  ]
}

function approvalOf(approval: ApprovalStep | undefined): Row[] {
  if (!approval) return [["approval", "none is recorded"]]
  const { request, decision } = approval
  const isOther = request && decision && request.sha256 !== decision.sha256
  return [
    ["asked for", isOther ? `sha256 ${request.sha256}` : undefined],
    ["approval", decision ? decisionText(decision) : "asked for"],
  ]
}

function approvalRows({ id, request, decision }: ApprovalStep): Row[] {
  return [
    ["id", id],
    ["asked", request && `sha256 ${request.sha256}`],
    ["risk", request?.risk],
    ["policy", request?.policySha256 && `sha256 ${request.policySha256}`],
    ["widens", request?.widenings?.join("; ")],
    ["expires", request?.expiresAt],
    ["decision", decision ? decisionText(decision) : "none is recorded"],
  ]
}

function aboutOf({ request }: ApprovalStep): string {
  return request ? [request.subject, request.name].filter(Boolean).join(" ") : "something"
}

function decisionText({ decision, by, reason, sha256, id }: NonNullable<ApprovalStep["decision"]>): string {
  const why = reason === undefined ? "" : `: ${reason}`
  return `${decision} by ${by}${why} (approval ${id}, for sha256 ${sha256})`
}

function egressRow(data: AuditData<"egress">): Row {
  const { host, port, verdict, rule, address, method, path, denial, bytesUp, bytesDown } = data
  const what = listed([
    `${host}:${port}`,
    method === undefined ? undefined : `${method} ${path ?? ""}`.trim(),
    verdict === "denied"
      ? `DENIED${denial ? `: ${denial.message}` : ""}`
      : `allowed${rule === undefined ? "" : ` by ${rule}`}`,
    address,
    verdict === "denied" ? undefined : `${bytesUp} bytes up, ${bytesDown} down`,
  ])
  return [verdict === "denied" ? "tried" : "reached", what]
}

function endOf(data: AuditData<"code-run"> | AuditData<"tool-call">): string {
  if (data.phase === "intent") return "not recorded: nobody knows how it went"
  const took = data.durationMs === undefined ? "" : ` after ${formatDuration(Math.round(data.durationMs))}`
  if (data.phase === "failed") return `failed${took}${data.error === undefined ? "" : `: ${data.error}`}`
  if ("blocks" in data)
    return `${listed([exitOf(data), data.termination === "exit" ? undefined : data.termination])}${took}`
  return `${data.isError === true ? "with an error" : "well"}${took}`
}

function exitOf({ exitCode }: AuditData<"code-run">): string {
  return exitCode === undefined ? "no exit code" : `exit code ${exitCode}`
}

function outputOf({ outputBytes, outputSha256, truncated }: AuditData<"code-run">): string | undefined {
  if (outputSha256 === undefined) return undefined
  return `${outputBytes ?? "?"} bytes, sha256 ${outputSha256}${truncated === true ? ", cut" : ""}`
}

function listed(parts: readonly (string | undefined)[]): string {
  return parts.filter(Boolean).join(", ")
}
