import { AUDIT_DATA, type AuditData, type AuditKind, type AuditRecord } from "../../governance/audit/index.ts"
import type { AccountStep, ApprovalStep, CodeStep, RunAccount, ToolStep } from "./run-account.ts"

// A server may run for months under one id.
const MAX_ITEMS = 2_000

/** Requests by their id: the answer may come in another run. */
export type KnownRequests = ReadonlyMap<string, NonNullable<ApprovalStep["request"]>>

interface Adding {
  readonly account: RunAccount
  readonly record: AuditRecord
  readonly requests: KnownRequests
}

/** Adds what a record says to the account of its run. */
export function addToAccount(adding: Adding): void {
  const { account, record } = adding
  account.records += 1
  account.last = { seq: record.seq, at: record.at }
  if (record.agent !== null && !account.agents.includes(record.agent))
    keep(adding, account.agents, record.agent)
  // A record of another release, or one that nobody here wrote, is told as it is.
  if (ADDERS.get(record.kind)?.(adding) !== true) addOther(adding)
}

/** Adds the data of one kind, if that is what it is. */
function on<Kind extends AuditKind>(
  kind: Kind,
  add: (adding: Adding, data: AuditData<Kind>) => void,
): [string, (adding: Adding) => boolean] {
  return [
    kind,
    (adding) => {
      const { data } = adding.record
      if (!AUDIT_DATA[kind].safeParse(data).success) return false
      add(adding, data as AuditData<Kind>)
      return true
    },
  ]
}

const ADDERS = new Map([
  on("run-start", ({ account }, data) => {
    account.start ??= data
  }),
  on("run-end", ({ account }, data) => {
    account.end = data
  }),
  on("policy-load", (adding, data) => {
    const { policies } = adding.account
    if (!policies.some(({ sha256, source }) => sha256 === data.sha256 && source === data.source)) {
      keep(adding, policies, data)
    }
  }),
  on("sandbox", (adding, data) => keep(adding, adding.account.sandboxes, data)),
  on("model-call", ({ account }, data) => {
    if (data.phase === "intent") return
    const { calls = 0, failed = 0, promptTokens = 0, completionTokens = 0 } = account.models[data.model] ?? {}
    account.models[data.model] = {
      provider: data.provider,
      calls: calls + 1,
      failed: failed + (data.phase === "failed" ? 1 : 0),
      promptTokens: promptTokens + (data.promptTokens ?? 0),
      completionTokens: completionTokens + (data.completionTokens ?? 0),
    }
  }),
  on("code-run", (adding, data) => {
    const step = codeStep(adding.account, data.id)
    if (step && !(data.phase === "intent" && step.data.phase !== "intent")) step.data = data
    else
      keep(adding, adding.account.steps, {
        type: "code-run",
        ...begun(adding),
        data,
        egress: [],
        secrets: [],
      })
    // Code that was refused has no run: a refusal of the same code is another matter.
    link(adding.account, codeStep(adding.account, data.id), data.codeSha256, ["approved", "edited"])
  }),
  on("tool-call", (adding, data) => {
    const step = toolStep(adding.account, data.id)
    if (step && !(data.phase === "intent" && step.data.phase !== "intent")) step.data = data
    else keep(adding, adding.account.steps, { type: "tool-call", ...begun(adding), data })
    link(adding.account, toolStep(adding.account, data.id), data.argumentsSha256)
  }),
  on("approval", (adding, data) => {
    const { account, requests } = adding
    const known = account.steps.find((step) => step.type === "approval" && step.id === data.id)
    const step: ApprovalStep =
      known?.type === "approval" ? known : { type: "approval", ...begun(adding), id: data.id }
    if (data.phase === "request") step.request = data
    else step.decision = data
    const request = step.request ?? requests.get(data.id)
    if (request) step.request = request
    if (step !== known) keep(adding, account.steps, step)
  }),
  on("egress", (adding, data) => {
    const step = data.id === undefined ? undefined : codeStep(adding.account, data.id)
    if (!step) {
      addOther(adding)
      return
    }
    const opened = step.egress.findLastIndex(
      ({ connection, state }) => connection === data.connection && state === "opened",
    )
    if (opened === -1) keep(adding, step.egress, data)
    else step.egress[opened] = data
  }),
  on("secret-used", (adding, data) => {
    const step = data.id === undefined ? undefined : codeStep(adding.account, data.id)
    if (step) keep(adding, step.secrets, data)
    else addOther(adding)
  }),
])

function addOther(adding: Adding): void {
  const { kind, data } = adding.record
  keep(adding, adding.account.steps, {
    type: "other",
    ...begun(adding),
    record: { kind, data },
  })
}

function begun({ record: { seq, at, agent } }: Adding): Pick<AccountStep, "seq" | "at" | "agent"> {
  return { seq, at, agent }
}

function keep<T>({ account }: Adding, list: T[], item: T): void {
  if (list.length < MAX_ITEMS) list.push(item)
  else account.leftOut += 1
}

// The latest first: a log may hold an id twice.
function codeStep({ steps }: RunAccount, id: string): CodeStep | undefined {
  const step = steps.findLast((step) => step.type === "code-run" && step.data.id === id)
  return step?.type === "code-run" ? step : undefined
}

function toolStep({ steps }: RunAccount, id: string): ToolStep | undefined {
  const step = steps.findLast((step) => step.type === "tool-call" && step.data.id === id)
  return step?.type === "tool-call" ? step : undefined
}

/** An approval is for one hash and one time, so that it goes with the first step that has the hash. */
function link(
  { steps }: RunAccount,
  step: CodeStep | ToolStep | undefined,
  sha256: string | undefined,
  decisions?: readonly string[],
): void {
  if (!step || step.approval || sha256 === undefined) return
  const index = steps.findIndex((other) => {
    if (other.type !== "approval" || other.decision?.sha256 !== sha256) return false
    return decisions?.includes(other.decision.decision) ?? true
  })
  const approval = steps[index]
  if (approval?.type !== "approval") return
  step.approval = approval
  steps.splice(index, 1)
}
