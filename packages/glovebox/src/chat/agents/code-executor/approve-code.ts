import { createHash, randomUUID } from "node:crypto"
import { z } from "zod"
import { GloveboxError } from "../../../core/index.ts"
import type { CodeBlock } from "../../../executors/index.ts"
import { abortable } from "../../../internal/abortable.ts"
import { canonicalJson } from "../../../internal/canonical-json.ts"
import { errorMessage } from "../../../internal/error-message.ts"
import { formatIssues } from "../../../internal/format-issues.ts"
import type { LLMMessage } from "../../../models/index.ts"
import { type PolicyChange, type SandboxPolicy, formatDuration } from "../../../policy/index.ts"
import { fencedCode } from "./fenced-code.ts"

/** Code that waits for somebody's word. */
export interface CodeApprovalRequest {
  readonly id: string
  /** The name of the agent that wants to run it. */
  readonly agent: string
  readonly codeBlocks: readonly CodeBlock[]
  /** All of it as one text, each block in its fence. */
  readonly code: string
  /** Of the blocks and their languages: what is approved is this and nothing else. */
  readonly sha256: string
  /** How often code of this turn has failed before. */
  readonly retryAttempt: number
  /** What was said before it. */
  readonly messages: readonly LLMMessage[]
  /** What the code will be let do, where the executor says so. */
  readonly policy: SandboxPolicy | undefined
  /** What it could reach that no policy tells of, such as devices, or all of this machine. */
  readonly beyondPolicy: readonly PolicyChange[]
  /** Aborted when the answer is not wanted any more: the turn ended, or the time is over. */
  readonly signal: AbortSignal
}

export type CodeApprovalDecision =
  /** With blocks, it is those that are approved, and that run. Who decided is for the audit log. */
  | {
      readonly approved: true
      readonly codeBlocks?: readonly CodeBlock[] | undefined
      readonly by?: string | undefined
    }
  | { readonly approved: false; readonly reason?: string | undefined; readonly by?: string | undefined }

export type ApproveCode = (
  request: CodeApprovalRequest,
) => CodeApprovalDecision | Promise<CodeApprovalDecision>

/** Whom to ask, and how long to wait for them. */
export interface CodeGate {
  readonly approve: ApproveCode
  readonly timeoutMs: number | undefined
  /** Where it is written down, if whoever is asked does not do that. */
  readonly journal?: CodeApprovalJournal | undefined
}

/** Told before somebody is asked, and before an answer counts; if it fails, it is a no. */
export interface CodeApprovalJournal {
  asked(request: CodeApprovalRequest): Promise<void>
  answered(request: CodeApprovalRequest, verdict: Verdict): Promise<void>
}

export type Verdict = { readonly by?: string | undefined } & (
  | { readonly approved: true; readonly codeBlocks: readonly CodeBlock[]; readonly isEdited: boolean }
  | { readonly approved: false; readonly reason: string | undefined }
)

type Proposal = Omit<CodeApprovalRequest, "id" | "code" | "sha256" | "signal">

const editedSchema = z
  .array(z.strictObject({ code: z.string(), language: z.string() }))
  .min(1, "is empty")
  .readonly()

/**
 * Asks whether the code may run. Anything but a plain yes is a no: an error, silence, or an answer that is none.
 *
 * @throws APPROVAL_PENDING when there is no answer yet and nobody is to wait for it
 */
export async function askApproval(
  { approve, timeoutMs, journal }: CodeGate,
  proposal: Proposal,
  signal: AbortSignal,
): Promise<Verdict> {
  signal.throwIfAborted()
  const late = new AbortController()
  const timer =
    timeoutMs === undefined ? undefined : setTimeout(() => late.abort(tooLate(timeoutMs)), timeoutMs)
  const request = requestOf(proposal, AbortSignal.any([signal, late.signal]))
  let verdict: Verdict
  try {
    const asked = Promise.resolve()
      .then(() => journal?.asked(request))
      .then(() => approve(request))
    verdict = readDecision(await abortable(asked, request.signal), request.codeBlocks)
  } catch (error) {
    signal.throwIfAborted()
    // It waits for its answer, and whoever runs the agent keeps its state.
    if (GloveboxError.is(error, "APPROVAL_PENDING")) throw error
    const isLate = late.signal.aborted
    verdict = denied(
      isLate ? errorMessage(late.signal.reason) : `It could not be asked for: ${errorMessage(error)}`,
    )
  } finally {
    clearTimeout(timer)
  }
  return journal ? record(journal, request, verdict, signal) : verdict
}

async function record(
  journal: CodeApprovalJournal,
  request: CodeApprovalRequest,
  verdict: Verdict,
  signal: AbortSignal,
): Promise<Verdict> {
  try {
    await abortable(journal.answered(request, verdict), signal)
    return verdict
  } catch (error) {
    signal.throwIfAborted()
    return denied(`The answer could not be recorded: ${errorMessage(error)}`)
  }
}

// Frozen: what is asked is what runs, whatever the approver does with it.
function requestOf(proposal: Proposal, signal: AbortSignal): CodeApprovalRequest {
  const codeBlocks = Object.freeze(
    proposal.codeBlocks.map(({ code, language }) => Object.freeze({ code, language })),
  )
  return Object.freeze({
    ...proposal,
    id: randomUUID(),
    codeBlocks,
    code: fencedCode(codeBlocks),
    sha256: createHash("sha256").update(canonicalJson({ codeBlocks })).digest("hex"),
    signal,
  })
}

function readDecision(decision: unknown, proposed: readonly CodeBlock[]): Verdict {
  const { approved, reason, codeBlocks, by: who } = (decision ?? {}) as Readonly<Record<string, unknown>>
  const by = textOf(who)
  if (approved !== true) return denied(textOf(reason), by)
  if (codeBlocks === undefined) return { approved: true, codeBlocks: proposed, isEdited: false, by }
  const { data, error } = editedSchema.safeParse(codeBlocks)
  if (error) return denied(`The edited code is not valid: ${formatIssues(error.issues)}`, by)
  return { approved: true, codeBlocks: data, isEdited: canonicalJson(data) !== canonicalJson(proposed), by }
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined
}

function denied(reason: string | undefined, by?: string): Verdict {
  return { approved: false, reason, by }
}

function tooLate(ms: number): GloveboxError {
  return new GloveboxError("TURN_TIMEOUT", `Nobody answered within ${formatDuration(ms)}.`)
}
