import type { ApprovalPayload } from "../approval/approval-payload.ts"
import type { ApprovalRecord } from "../approval/approval-record.ts"
import type { DecisionBasis } from "../approval/approval-rules.ts"
import type { GateRequest } from "../approval/gate-request.ts"
import type { AuditEntry } from "../audit/record-kinds.ts"
import { sha256Of } from "../audit/code-run-data.ts"
import type { Telemetry } from "../telemetry/index.ts"
import type { ContentOptions } from "./controls.ts"
import type { EffectLog } from "./effect-log.ts"

export interface ApprovalAuditOptions {
  readonly log: EffectLog
  readonly telemetry: Telemetry
  readonly content: ContentOptions
}

/** Writes down what is asked for and what is decided, before either has an effect. */
export class ApprovalAudit {
  readonly #options: ApprovalAuditOptions

  constructor(options: ApprovalAuditOptions) {
    this.#options = options
  }

  async request(request: GateRequest): Promise<void> {
    await this.#options.log.record(this.#requestEntry(request))
  }

  async decision(record: ApprovalRecord): Promise<void> {
    const { log, telemetry, content } = this.#options
    const { request, basis, decision, by, reason, sha256, edited } = record
    const { agent } = request
    telemetry.approval(request).end({ decision, by: by ?? basisName(basis) })
    if (decision === "denied") telemetry.denied({ agent, kind: "approval", name: nameOf(request) })
    const entry: AuditEntry = {
      kind: "approval",
      agent,
      data: {
        phase: "decision",
        id: request.id,
        decision: decision === "withdrawn" ? "refused" : decision,
        by: by ?? basisName(basis),
        reason: reason ?? (decision === "withdrawn" ? "Nobody waits for the answer any more." : undefined),
        sha256: sha256 ?? request.sha256,
        payload: edited === undefined ? undefined : this.#payload(edited),
      },
    }
    // What a rule decides, nobody was asked about.
    const asked = basis.by === "provider" ? undefined : log.record(this.#requestEntry(request))
    // Both go to the disk together; with content one may have to be written anew, and must come first all the same.
    if (content.code === true || content.arguments === true) await asked
    await Promise.all([asked, log.record(entry)])
  }

  #requestEntry(request: GateRequest): AuditEntry {
    const { id, kind, sha256, agent, risk, policySha256, widenings, expires, payload } = request
    return {
      kind: "approval",
      agent,
      data: {
        phase: "request",
        id,
        subject: kind,
        name: nameOf(request),
        sha256,
        payload: this.#payload(payload),
        risk,
        policySha256,
        widenings: widenings.map(({ path, from, to }) => `${path}: ${from} -> ${to}`),
        expiresAt: Number.isFinite(expires) ? new Date(expires).toISOString() : undefined,
      },
    }
  }

  #payload(payload: ApprovalPayload): unknown {
    const { content } = this.#options
    const isWanted = "codeBlocks" in payload ? content.code : content.arguments
    if (isWanted === true) return payload
    // By hash, so that what was approved can be told from what ran.
    return "codeBlocks" in payload
      ? { codeBlocks: payload.codeBlocks.map(({ language, code }) => ({ language, sha256: sha256Of(code) })) }
      : undefined
  }
}

function nameOf(request: GateRequest): string {
  switch (request.kind) {
    case "tool":
      return request.payload.tool
    case "code":
      return [...new Set(request.payload.codeBlocks.map(({ language }) => language))].join(", ")
    case "policy":
      return "policy"
    default:
      return request satisfies never
  }
}

function basisName(basis: DecisionBasis): string {
  if (basis.by === "provider") return basis.provider
  return basis.by === "rule" ? `rule ${basis.rule + 1}` : `default rule ${basis.rule + 1}`
}
