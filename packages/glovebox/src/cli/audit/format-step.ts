import type { AuditData } from "../../governance/audit/index.ts"
import { summarizeAuditData } from "../../governance/audit/format-audit-record.ts"
import { formatDuration } from "../../policy/index.ts"
import { type Row, rowLines, textLines } from "./account-rows.ts"
import { blockLines, payloadLines } from "./payload-lines.ts"
import type { AccountStep, ApprovalStep, CodeStep, ToolStep } from "./run-account.ts"

const INDENT = "  "
const TOLD_ELSEWHERE = new Set(["image", "runtime"])

/** One thing that a run did, or was kept from. */
export function formatStep(step: AccountStep, code: ReadonlySet<unknown> = new Set()): string[] {
  const title = (what: string): string =>
    `#${step.seq} ${step.at} ${what}${step.agent === null ? "" : `, by ${step.agent}`}`
  if (step.type === "code-run") return formatCode(step, title(`code run ${step.data.id}`))
  const [what, rows] = rowsOf(step, code)
  const asked = step.type === "approval" ? payloadLines("what", step.request?.payload, INDENT) : []
  return [...rowLines(title(what), rows, INDENT), ...asked]
}

function rowsOf(step: Exclude<AccountStep, CodeStep>, code: ReadonlySet<unknown>): [string, Row[]] {
  if (step.type === "tool-call") return [`call of ${step.data.tool}`, toolRows(step, code)]
  if (step.type === "approval") return [`approval of ${aboutOf(step)}`, approvalRows(step)]
  return [step.record.kind, [["what", summarizeAuditData(step.record)]]]
}

function formatCode({ data, approval, egress, secrets }: CodeStep, title: string): string[] {
  const [head = "", ...approved] = rowLines(
    title,
    [
      [
        "together",
        data.codeSha256 && `sha256 ${data.codeSha256}, of all code and its languages, as it is approved`,
      ],
      ...approvalOf(approval, "for this code"),
    ],
    INDENT,
  )
  const rows: Row[] = [
    ["policy", data.policySha256 && `sha256 ${data.policySha256}`],
    ["image", [data.image, data.imageDigest].filter(Boolean).join(" ")],
    ["sandbox", listed([data.executor, data.engine, data.runtime, data.isolation, data.containerId])],
    ["settings", settingsOf(data)],
    ...(egress.length > 0 ? egress.map(egressRow) : [["reached", noEgress(data)] as const]),
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
    ...blockLines("code", data.blocks, INDENT),
    ...approved,
    ...(isEdited(approval) ? payloadLines("asked for", approval?.request?.payload, INDENT) : []),
    ...rowLines("", rows, INDENT).slice(1),
    ...textLines(data.output, `${INDENT}  `),
    ...rowLines("", files, INDENT).slice(1),
  ]
}

function toolRows({ data, approval }: ToolStep, code: ReadonlySet<unknown>): Row[] {
  return [
    ["id", data.id],
    ["risk", data.risk],
    ["arguments", data.argumentsSha256 && `sha256 ${data.argumentsSha256}`],
    ["", data.arguments === undefined ? undefined : argumentsText(data.arguments, code)],
    ...(approval ? approvalOf(approval, "for these arguments") : []),
    ["ended", endOf(data)],
    ["result", data.resultSha256 && `sha256 ${data.resultSha256}`],
  ]
}

function argumentsText(args: unknown, code: ReadonlySet<unknown>): string {
  return JSON.stringify(args, (_, value: unknown) => (code.has(value) ? "the code that ran" : value))
}

/** Only an approval of the same SHA-256 stands with what was done, so that it need not be told twice. */
function approvalOf(approval: ApprovalStep | undefined, forWhat: string): Row[] {
  if (!approval) return [["approval", "none is recorded"]]
  const { request, decision } = approval
  return [
    ["asked for", isEdited(approval) ? `sha256 ${request?.sha256}, which is another` : undefined],
    ["approval", decision ? `${decisionText(decision)} (approval ${decision.id}, ${forWhat})` : "asked for"],
  ]
}

function isEdited(approval: ApprovalStep | undefined): boolean {
  const { request, decision } = approval ?? {}
  return request !== undefined && decision !== undefined && request.sha256 !== decision.sha256
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
    ["for", decision && decision.sha256 !== request?.sha256 ? `sha256 ${decision.sha256}` : undefined],
  ]
}

function aboutOf({ request }: ApprovalStep): string {
  return request ? [request.subject, request.name].filter(Boolean).join(" ") : "something"
}

function decisionText({ decision, by, reason }: NonNullable<ApprovalStep["decision"]>): string {
  return `${decision} by ${by}${reason === undefined ? "" : `: ${reason}`}`
}

/** The wall as it was read back; what has parts of its own is in the record. */
function settingsOf({ effective = {} }: AuditData<"code-run">): string {
  const plain = Object.entries(effective).filter(
    ([name, value]) => !TOLD_ELSEWHERE.has(name) && value !== null && typeof value !== "object",
  )
  return plain.map(([name, value]) => `${name} ${String(value)}`).join(", ")
}

function noEgress({ phase }: AuditData<"code-run">): string | undefined {
  return phase === "done" ? "nothing: no connection is recorded" : undefined
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
