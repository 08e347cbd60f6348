import { z } from "zod"

const text = z.string()
const count = z.number().int().min(0)
const ms = z.number().min(0)
const sha256 = z.string().regex(/^[0-9a-f]{64}$/, "must be a SHA-256 in hexadecimal")
/** JSON of no fixed shape; the log checks that it is JSON. */
const json = z.unknown()
const fields = z.record(z.string(), json)

// What is too large for a record is left out of it, and named here with its size and its hash.
const omitted = z.array(text).optional()

// Before an effect there is an intent, after it a record with the same id that says how it went.
const phase = z.enum(["intent", "done", "failed"])

const artifact = z.strictObject({ path: text, size: count, sha256 })
const codeBlock = z.strictObject({ language: text, sha256, code: text.optional() })
const denial = z.strictObject({
  code: text,
  rule: text.optional(),
  resource: text,
  message: text,
  suggestion: text,
})

/** What the records of each kind say. Content (code, arguments, texts) is there only if somebody asked for it. */
export const AUDIT_DATA = {
  "run-start": z.strictObject({
    command: text.optional(),
    taskSha256: sha256.optional(),
    task: text.optional(),
    version: text.optional(),
    details: fields.optional(),
    omitted,
  }),
  "run-end": z.strictObject({
    outcome: z.enum(["done", "failed", "cancelled", "suspended"]),
    stopReason: text.optional(),
    error: text.optional(),
    answerSha256: sha256.optional(),
    answer: text.optional(),
    durationMs: ms.optional(),
    omitted,
  }),
  "tool-call": z.strictObject({
    phase,
    id: text,
    tool: text,
    risk: text.optional(),
    argumentsSha256: sha256.optional(),
    arguments: json.optional(),
    resultSha256: sha256.optional(),
    isError: z.boolean().optional(),
    error: text.optional(),
    durationMs: ms.optional(),
    omitted,
  }),
  "code-run": z.strictObject({
    phase,
    id: text,
    executor: text.optional(),
    blocks: z.array(codeBlock),
    /** Of all blocks together, as an approval of them has it. */
    codeSha256: sha256.optional(),
    policySha256: sha256.optional(),
    isolation: text.optional(),
    image: text.optional(),
    imageDigest: text.optional(),
    runtime: text.optional(),
    containerId: text.optional(),
    /** Of a fleet. */
    engine: text.optional(),
    effective: fields.optional(),
    limitsHit: z.array(text).optional(),
    exitCode: z.number().int().optional(),
    termination: text.optional(),
    durationMs: ms.optional(),
    outputSha256: sha256.optional(),
    outputBytes: count.optional(),
    output: text.optional(),
    truncated: z.boolean().optional(),
    artifacts: z.array(artifact).optional(),
    error: text.optional(),
    omitted,
  }),
  egress: z.strictObject({
    state: z.enum(["denied", "opened", "closed"]),
    /** Of the code run. */
    id: text.optional(),
    connection: count,
    via: text,
    host: text,
    port: count,
    verdict: z.enum(["allowed", "denied"]),
    rule: text.optional(),
    address: text.optional(),
    intercepted: z.boolean().optional(),
    secrets: z.array(z.strictObject({ name: text, host: text })).optional(),
    secretsWithheld: z.array(text).optional(),
    method: text.optional(),
    path: text.optional(),
    denial: denial.optional(),
    bytesUp: count,
    bytesDown: count,
    durationMs: ms,
    ended: text.optional(),
    omitted,
  }),
  approval: z.discriminatedUnion("phase", [
    z.strictObject({
      phase: z.literal("request"),
      id: text,
      subject: text,
      name: text.optional(),
      sha256,
      payload: json.optional(),
      risk: text.optional(),
      policySha256: sha256.optional(),
      widenings: z.array(text).optional(),
      expiresAt: text.optional(),
      omitted,
    }),
    z.strictObject({
      phase: z.literal("decision"),
      id: text,
      decision: z.enum(["approved", "denied", "edited", "expired", "refused"]),
      /** Who, or which rule. */
      by: text,
      reason: text.optional(),
      /** Of what may run, which is another than what was asked for when it was edited. */
      sha256,
      payload: json.optional(),
      omitted,
    }),
  ]),
  "policy-load": z.strictObject({
    sha256,
    source: text,
    widenings: z.array(text).optional(),
    policy: fields.optional(),
    omitted,
  }),
  sandbox: z.strictObject({
    event: z.enum(["created", "started", "stopped", "destroyed", "lost", "failed"]),
    executor: text,
    containerId: text.optional(),
    image: text.optional(),
    imageDigest: text.optional(),
    policySha256: sha256.optional(),
    reason: text.optional(),
    details: fields.optional(),
    omitted,
  }),
  "model-call": z.strictObject({
    phase,
    id: text,
    model: text,
    provider: text.optional(),
    requestSha256: sha256.optional(),
    responseSha256: sha256.optional(),
    promptTokens: count.optional(),
    completionTokens: count.optional(),
    finishReason: text.optional(),
    cached: z.boolean().optional(),
    durationMs: ms.optional(),
    content: json.optional(),
    error: text.optional(),
    omitted,
  }),
  "message-filtered": z.strictObject({
    action: z.enum(["strip", "flag", "block"]),
    rules: z.array(text),
    direction: text.optional(),
    source: text.optional(),
    messageSha256: sha256.optional(),
    count: count.optional(),
  }),
  "access-denied": z.strictObject({
    subject: text,
    target: text,
    rule: text.optional(),
    reason: text.optional(),
    omitted,
  }),
  "secret-used": z.strictObject({ name: text, host: text, id: text.optional(), how: text.optional() }),
  custom: z.strictObject({ name: text, detail: fields.optional(), omitted }),
} as const

export type AuditKind = keyof typeof AUDIT_DATA

export type AuditData<Kind extends AuditKind = AuditKind> = z.input<(typeof AUDIT_DATA)[Kind]>

/** The kinds that others may append. */
export const AUDIT_KINDS = Object.keys(AUDIT_DATA) as readonly AuditKind[]

interface EntryOf<Kind extends AuditKind> {
  readonly kind: Kind
  /** @default what the log was made with */
  readonly run?: string | undefined
  readonly agent?: string | undefined
  readonly data: AuditData<Kind>
}

/** What is to be recorded. */
export type AuditEntry = { [Kind in AuditKind]: EntryOf<Kind> }[AuditKind]
