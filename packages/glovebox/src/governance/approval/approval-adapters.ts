import type { JsonValue } from "../../core/index.ts"
import { checkJson } from "../../core/json.ts"
import { describe } from "../../internal/describe.ts"
import { type PolicyChange, SandboxPolicy } from "../../policy/index.ts"
import type { ApprovalDecision, Approve } from "../../tools/approval.ts"
import { ApprovalError } from "./approval-error.ts"
import type { ApprovalGrant } from "./approval-grant.ts"
import type { ApprovalKind, CodePayload, ToolPayload } from "./approval-payload.ts"
import type { ApprovalProposal, PolicySource, RequestApprovalOptions } from "./approval-proposal.ts"
import type { ApprovalRisk } from "./gate-request.ts"

export interface AdapterOptions {
  /** Who asks. @default that of the request, where it names one */
  readonly agent?: string | undefined
  /** What it runs under, read again when the approval is used. @default that of the request, where it names one */
  readonly policy?: PolicySource | undefined
  /** Of code and policies; a tool has its own. @default "medium" for code, "high" for a policy */
  readonly risk?: ApprovalRisk | undefined
  /** Short texts that help to decide. @default [] */
  readonly context?: readonly string[] | undefined
}

type Ask = <Kind extends ApprovalKind>(
  proposal: ApprovalProposal<Kind>,
  options: RequestApprovalOptions,
) => Promise<ApprovalGrant<Kind>>

/** What CodeExecutorAgent asks with, as far as it matters here. */
export interface CodeToApprove {
  readonly agent: string
  readonly codeBlocks: CodePayload["codeBlocks"]
  readonly retryAttempt?: number | undefined
  readonly policy?: SandboxPolicy | undefined
  readonly beyondPolicy?: readonly PolicyChange[] | undefined
  readonly signal?: AbortSignal | undefined
}

export type ApproveCodeBlocks = (
  request: CodeToApprove,
) => Promise<
  | { readonly approved: true; readonly codeBlocks?: CodePayload["codeBlocks"] | undefined }
  | Extract<ApprovalDecision, { readonly approved: false }>
>

/** Resolves with the policy that may be put in force; rejects with an ApprovalError. */
export type ApprovePolicy = (
  from: SandboxPolicy,
  to: SandboxPolicy,
  options?: RequestApprovalOptions,
) => Promise<SandboxPolicy>

export function approveTools(ask: Ask, options: AdapterOptions & { readonly agent: string }): Approve {
  const { agent, policy, context } = options
  return async ({ tool, risk, arguments: args, sha256, asks, signal }) => {
    // Read again when it is used: what was changed meanwhile is not what was approved.
    const now = (): ToolPayload => toolPayload(tool, args, sha256)
    try {
      const grant = await ask<"tool">(
        { kind: "tool", payload: now(), agent, risk, asks, policy, context },
        { signal },
      )
      await grant.use(grant.isEdited ? grant.payload : now(), { signal })
      return grant.isEdited ? { approved: true, arguments: grant.payload.arguments } : { approved: true }
    } catch (error) {
      return denialOf(error)
    }
  }
}

export function approveCode(ask: Ask, options: AdapterOptions): ApproveCodeBlocks {
  return async (request) => {
    const { agent = request.agent, policy = request.policy, risk, context = [] } = options
    const { beyondPolicy } = request
    const now = (): CodePayload => ({
      codeBlocks: request.codeBlocks.map(({ code, language, file }) => ({
        code,
        language,
        ...(file !== undefined && { file }),
      })),
    })
    const failed = request.retryAttempt ?? 0
    const texts = failed === 0 ? context : [...context, `code of this turn has failed ${failed} times before`]
    try {
      const grant = await ask<"code">(
        { kind: "code", payload: now(), agent, risk, policy, beyondPolicy, context: texts },
        { signal: request.signal },
      )
      await grant.use(grant.isEdited ? grant.payload : now(), { signal: request.signal })
      return grant.isEdited ? { approved: true, codeBlocks: grant.payload.codeBlocks } : { approved: true }
    } catch (error) {
      return denialOf(error)
    }
  }
}

export function approvePolicy(ask: Ask, options: AdapterOptions & { readonly agent: string }): ApprovePolicy {
  const { agent, policy, risk = "high", context } = options
  return async (from, to, asking = {}) => {
    const payload = { from: from.toJSON(), to: to.toJSON() }
    const grant = await ask<"policy">({ kind: "policy", payload, agent, risk, policy, context }, asking)
    await grant.use(grant.payload, asking)
    return new SandboxPolicy(grant.payload.to)
  }
}

// A request that waits is no denial: it passes through to whoever saves the state. So does an abort.
function denialOf(error: unknown): Extract<ApprovalDecision, { readonly approved: false }> {
  if (!(error instanceof ApprovalError) || error.code === "APPROVAL_PENDING") throw error
  return { approved: false, reason: error.reason ?? error.message }
}

// A schema may make of JSON what JSON has no form for: shown as well as can be, and bound by the hash of the call.
export function toolPayload(tool: string, args: unknown, callSha256: string): ToolPayload {
  try {
    checkJson(args)
    return { tool, arguments: args as JsonValue }
  } catch {
    return { tool, arguments: shown(args, []), callSha256 }
  }
}

function shown(value: unknown, above: readonly object[]): JsonValue {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value
  if (typeof value === "number" && Number.isFinite(value)) return value
  if (typeof value === "bigint") return `${value}n`
  if (typeof value !== "object" || above.includes(value)) return describe(value)
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "an invalid date" : value.toISOString()
  const inside = [...above, value]
  if (value instanceof Map || value instanceof Set) return [...value].map((item) => shown(item, inside))
  if (Array.isArray(value)) return value.map((item) => shown(item, inside))
  const fields = Object.entries(value).filter(([, item]) => item !== undefined)
  return Object.fromEntries(fields.map(([key, item]) => [key, shown(item, inside)]))
}
