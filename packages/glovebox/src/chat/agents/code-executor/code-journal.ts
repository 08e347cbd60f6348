import type { ApprovalAudit, GateRequest } from "../../../governance/index.ts"
import { hashPayload } from "../../../governance/approval/approval-payload.ts"
import type { CodeApprovalJournal, CodeApprovalRequest, Verdict } from "./approve-code.ts"

/** Writes approvals of code into the audit log that no gate decides. */
export class CodeJournal implements CodeApprovalJournal {
  readonly #audit: ApprovalAudit
  readonly #timeoutMs: number
  readonly #by: string
  readonly #asked = new WeakMap<CodeApprovalRequest, GateRequest>()

  /** @param by Who decides, where an answer does not say. */
  constructor(
    audit: ApprovalAudit,
    { by, timeoutMs = Infinity }: { by: string; timeoutMs?: number | undefined },
  ) {
    this.#audit = audit
    this.#timeoutMs = timeoutMs
    this.#by = by
  }

  async asked(request: CodeApprovalRequest): Promise<void> {
    await this.#audit.request(this.#requestOf(request))
  }

  async answered(request: CodeApprovalRequest, verdict: Verdict): Promise<void> {
    const { approved, by } = verdict
    const edited = approved && verdict.isEdited ? { codeBlocks: verdict.codeBlocks } : undefined
    const sha256 = edited ? hashPayload(edited) : request.sha256
    await this.#audit.decision({
      request: this.#requestOf(request),
      decision: edited ? "edited" : approved ? "approved" : "denied",
      basis: { by: "provider", provider: this.#by },
      by,
      sha256: approved ? sha256 : undefined,
      edited,
      reason: approved ? undefined : verdict.reason,
      decided: Date.now(),
    })
  }

  #requestOf(request: CodeApprovalRequest): GateRequest {
    const known = this.#asked.get(request)
    if (known) return known
    const { id, agent, sha256, codeBlocks, policy, beyondPolicy } = request
    const created = Date.now()
    const made: GateRequest = {
      id,
      kind: "code",
      payload: { codeBlocks },
      sha256,
      agent,
      risk: "medium",
      policySha256: policy?.sha256,
      widenings: [...(policy?.widenings() ?? []), ...beyondPolicy],
      context: [],
      created,
      expires: created + this.#timeoutMs,
    }
    this.#asked.set(request, made)
    return made
  }
}
