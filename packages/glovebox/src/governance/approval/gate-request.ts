import { z } from "zod"
import { GloveboxError } from "../../core/index.ts"
import { deepFreeze } from "../../internal/deep-freeze.ts"
import { errorMessage } from "../../internal/error-message.ts"
import { formatIssues } from "../../internal/format-issues.ts"
import type { PolicyChange } from "../../policy/index.ts"
import {
  APPROVAL_KINDS,
  type ApprovalKind,
  type ApprovalPayloads,
  hashPayload,
  readPayload,
} from "./approval-payload.ts"

export const RISKS = ["low", "medium", "high"] as const
export type ApprovalRisk = (typeof RISKS)[number]

interface RequestFields {
  readonly id: string
  /** Of the payload: what is approved is this and nothing else. */
  readonly sha256: string
  /** Who wants it. */
  readonly agent: string
  readonly risk: ApprovalRisk
  /** Of the policy that it would run under; undefined when nobody said. */
  readonly policySha256?: string | undefined
  /** In what that policy is wider than deny-all; for a change of policy, all that changes. */
  readonly widenings: readonly PolicyChange[]
  /** Short texts that help to decide. */
  readonly context: readonly string[]
  /** In milliseconds since 1970, as the next one. */
  readonly created: number
  /** When it can neither be answered nor used any more. */
  readonly expires: number
}

/** Something that waits for somebody's word. Plain data: it survives JSON. */
export type GateRequest = {
  [Kind in ApprovalKind]: RequestFields & { readonly kind: Kind; readonly payload: ApprovalPayloads[Kind] }
}[ApprovalKind]

/** Ids are names of files and parts of addresses. */
export const idSchema = z.uuid({ error: "is not the id of a request" })

export const policyChangeSchema = z.strictObject({
  path: z.string(),
  from: z.string(),
  to: z.string(),
  effect: z.enum(["widens", "narrows", "changes"]),
})

const requestSchema = z.strictObject({
  id: idSchema,
  kind: z.enum(APPROVAL_KINDS),
  payload: z.unknown(),
  sha256: z.string(),
  agent: z.string(),
  risk: z.enum(RISKS),
  policySha256: z.string().optional(),
  widenings: z.array(policyChangeSchema),
  context: z.array(z.string()),
  created: z.number(),
  expires: z.number(),
})

/**
 * Reads a request that was saved; its hash is computed anew.
 *
 * @throws GloveboxError STATE_INVALID
 */
export function readRequest(saved: unknown): GateRequest {
  const { data, error } = requestSchema.safeParse(saved)
  if (error) throw invalid(formatIssues(error.issues), error)
  const payload = checked(data.kind, data.payload)
  if (hashPayload(payload) !== data.sha256)
    throw invalid(`the payload of ${data.id} is not that of its sha256`)
  return deepFreeze({ ...data, payload }) as GateRequest
}

function checked(kind: ApprovalKind, payload: unknown): ApprovalPayloads[ApprovalKind] {
  try {
    return readPayload(kind, payload)
  } catch (error) {
    throw invalid(errorMessage(error), error)
  }
}

function invalid(why: string, cause?: unknown): GloveboxError {
  return new GloveboxError("STATE_INVALID", `The saved request for an approval is not valid: ${why}`, {
    cause,
  })
}
