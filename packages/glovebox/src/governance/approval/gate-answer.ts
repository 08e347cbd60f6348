import { z } from "zod"
import { GloveboxError } from "../../core/index.ts"
import { deepFreeze } from "../../internal/deep-freeze.ts"
import { canonicalJson } from "../../internal/canonical-json.ts"
import { formatIssues } from "../../internal/format-issues.ts"
import { hashPayload, readPayload } from "./approval-payload.ts"
import type { GateRequest } from "./gate-request.ts"

interface AnswerFields {
  /** Who answered, for the record. */
  readonly by?: string | undefined
  /** Of the payload that was looked at; an answer to another one is refused. */
  readonly sha256?: string | undefined
  readonly reason?: string | undefined
}

/** What somebody says to a request. An edited payload is what runs, and what is recorded. */
export type GateAnswer =
  | (AnswerFields & { readonly decision: "approve" })
  | (AnswerFields & { readonly decision: "deny" })
  | (AnswerFields & { readonly decision: "edit"; readonly payload: unknown })

const text = z.string().max(10_000).optional()
const fields = { by: text, sha256: text, reason: text }

const answerSchema = z.discriminatedUnion("decision", [
  z.strictObject({ decision: z.literal("approve"), ...fields }),
  z.strictObject({ decision: z.literal("deny"), ...fields }),
  z.strictObject({ decision: z.literal("edit"), payload: z.unknown(), ...fields }),
])

/**
 * Checks an answer to a request; what is no answer is not taken for one.
 *
 * @throws GloveboxError OPTION_INVALID
 */
export function readAnswer(request: GateRequest, answer: unknown): GateAnswer {
  const { data, error } = answerSchema.safeParse(answer)
  if (error) throw invalid(formatIssues(error.issues), error)
  if (data.sha256 !== undefined && data.sha256 !== request.sha256) {
    throw invalid("it is for another payload than that of the request")
  }
  // A denial is taken as it is; what may run is checked whole.
  if (data.decision !== "edit") return deepFreeze(data)
  const payload = readPayload(request.kind, data.payload)
  refuseOther(request, payload)
  const isSame = hashPayload(payload) === request.sha256
  const { by, sha256, reason } = data
  return deepFreeze(isSame ? { by, sha256, reason, decision: "approve" } : { ...data, payload })
}

// An edit changes how a thing is done; another tool, or another policy to begin with, is another request.
function refuseOther(request: GateRequest, payload: object): void {
  const fixed = { tool: ["tool"], code: [], policy: ["from"] }[request.kind]
  for (const name of fixed) {
    const [before, after] = [request.payload, payload].map((one) => new Map(Object.entries(one)).get(name))
    if (canonicalJson(before) !== canonicalJson(after)) throw invalid(`an edit cannot change ${name}`)
  }
}

function invalid(why: string, cause?: unknown): GloveboxError {
  return new GloveboxError("OPTION_INVALID", `The answer to a request for an approval is not valid: ${why}`, {
    cause,
  })
}
