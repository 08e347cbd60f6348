import { createHash, randomUUID } from "node:crypto"
import { z } from "zod"
import { GloveboxError } from "../../../core/index.ts"
import type { CodeBlock } from "../../../executors/index.ts"
import { abortable } from "../../../internal/abortable.ts"
import { canonicalJson } from "../../../internal/canonical-json.ts"
import { errorMessage } from "../../../internal/error-message.ts"
import { formatIssues } from "../../../internal/format-issues.ts"
import type { LLMMessage } from "../../../models/index.ts"
import { type SandboxPolicy, formatDuration } from "../../../policy/index.ts"
import type { ApprovalDecision } from "../../../tools/index.ts"
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
  /** Aborted when the answer is not wanted any more: the turn ended, or the time is over. */
  readonly signal: AbortSignal
}

export type CodeApprovalDecision =
  /** With blocks, it is those that are approved, and that run. */
  | { readonly approved: true; readonly codeBlocks?: readonly CodeBlock[] | undefined }
  | Extract<ApprovalDecision, { readonly approved: false }>

export type ApproveCode = (
  request: CodeApprovalRequest,
) => CodeApprovalDecision | Promise<CodeApprovalDecision>

/** Whom to ask, and how long to wait for them. */
export interface CodeGate {
  readonly approve: ApproveCode
  readonly timeoutMs: number | undefined
}

export type Verdict =
  | { readonly approved: true; readonly codeBlocks: readonly CodeBlock[]; readonly isEdited: boolean }
  | { readonly approved: false; readonly reason: string | undefined }

type Proposal = Pick<CodeApprovalRequest, "agent" | "codeBlocks" | "retryAttempt" | "messages" | "policy">

const editedSchema = z
  .array(z.strictObject({ code: z.string(), language: z.string() }))
  .min(1, "is empty")
  .readonly()

/** Asks whether the code may run. Anything but a plain yes is a no: an error, silence, or an answer that is none. */
export async function askApproval(
  { approve, timeoutMs }: CodeGate,
  proposal: Proposal,
  signal: AbortSignal,
): Promise<Verdict> {
  signal.throwIfAborted()
  const late = new AbortController()
  const timer =
    timeoutMs === undefined ? undefined : setTimeout(() => late.abort(tooLate(timeoutMs)), timeoutMs)
  const request = requestOf(proposal, AbortSignal.any([signal, late.signal]))
  try {
    const asked = Promise.resolve().then(() => approve(request))
    return readDecision(await abortable(asked, request.signal), request.codeBlocks)
  } catch (error) {
    signal.throwIfAborted()
    if (late.signal.aborted) return denied(errorMessage(late.signal.reason))
    return denied(`It could not be asked for: ${errorMessage(error)}`)
  } finally {
    clearTimeout(timer)
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
  const { approved, reason, codeBlocks } = (decision ?? {}) as Readonly<Record<string, unknown>>
  if (approved !== true) return denied(typeof reason === "string" && reason !== "" ? reason : undefined)
  if (codeBlocks === undefined) return { approved: true, codeBlocks: proposed, isEdited: false }
  const { data, error } = editedSchema.safeParse(codeBlocks)
  if (error) return denied(`The edited code is not valid: ${formatIssues(error.issues)}`)
  return { approved: true, codeBlocks: data, isEdited: canonicalJson(data) !== canonicalJson(proposed) }
}

function denied(reason: string | undefined): Verdict {
  return { approved: false, reason }
}

function tooLate(ms: number): GloveboxError {
  return new GloveboxError("TURN_TIMEOUT", `Nobody answered within ${formatDuration(ms)}.`)
}
