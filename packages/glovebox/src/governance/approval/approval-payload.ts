import { createHash } from "node:crypto"
import { z } from "zod"
import { GloveboxError, type JsonValue } from "../../core/index.ts"
import { checkJson } from "../../core/json.ts"
import { canonicalJson } from "../../internal/canonical-json.ts"
import { deepFreeze } from "../../internal/deep-freeze.ts"
import { errorMessage } from "../../internal/error-message.ts"
import { formatIssues } from "../../internal/format-issues.ts"
import { type PolicyFields, type PolicyInput, SandboxPolicy } from "../../policy/index.ts"

export const APPROVAL_KINDS = ["tool", "code", "policy"] as const
export type ApprovalKind = (typeof APPROVAL_KINDS)[number]

export interface ToolPayload {
  readonly tool: string
  readonly arguments: JsonValue
  /** Of the call itself, where its arguments have values that JSON has no form for. */
  readonly callSha256?: string | undefined
}

export interface CodePayload {
  readonly codeBlocks: readonly {
    readonly code: string
    readonly language: string
    readonly file?: string | undefined
  }[]
}

/** A change of policy: from the one in force to another. */
export interface PolicyPayload {
  readonly from: PolicyFields
  readonly to: PolicyFields
}

/** What is to be approved, by kind. */
export interface ApprovalPayloads {
  readonly tool: ToolPayload
  readonly code: CodePayload
  readonly policy: PolicyPayload
}

export type ApprovalPayload = ApprovalPayloads[ApprovalKind]

const json = z.custom<JsonValue>((value) => value !== undefined, "is missing")
const policy = z.record(z.string(), z.unknown())

const SCHEMAS = {
  tool: z.strictObject({ tool: z.string().min(1), arguments: json, callSha256: z.string().optional() }),
  code: z.strictObject({
    codeBlocks: z
      .array(z.strictObject({ code: z.string(), language: z.string(), file: z.string().optional() }))
      .min(1, "is empty"),
  }),
  policy: z.strictObject({ from: policy, to: policy }),
}

/**
 * The payload as data of its own, frozen: what is asked for stays what it was, whatever others do with theirs.
 *
 * @throws GloveboxError OPTION_INVALID
 */
export function readPayload<Kind extends ApprovalKind>(kind: Kind, payload: unknown): ApprovalPayloads[Kind] {
  try {
    checkJson(payload)
  } catch (error) {
    throw invalid(kind, errorMessage(error), error)
  }
  const { data, error } = SCHEMAS[kind].safeParse(payload)
  if (error) throw invalid(kind, formatIssues(error.issues), error)
  const copy: unknown = JSON.parse(canonicalJson(kind === "policy" ? completed(data) : data))
  return deepFreeze(copy) as ApprovalPayloads[Kind]
}

/** The SHA-256 of a payload's canonical JSON; for calls and code the same as tools and agents tell. */
export function hashPayload(payload: ApprovalPayload): string {
  return createHash("sha256").update(canonicalJson(payload)).digest("hex")
}

// Both policies checked and complete, so that two ways to write one policy have one hash.
function completed(data: unknown): PolicyPayload {
  const { from, to } = data as { readonly from: PolicyInput; readonly to: PolicyInput }
  try {
    return { from: new SandboxPolicy(from).toJSON(), to: new SandboxPolicy(to).toJSON() }
  } catch (error) {
    throw invalid("policy", errorMessage(error), error)
  }
}

function invalid(kind: ApprovalKind, why: string, cause: unknown): GloveboxError {
  return new GloveboxError("OPTION_INVALID", `The ${kind} payload of an approval is not valid: ${why}`, {
    cause,
  })
}
