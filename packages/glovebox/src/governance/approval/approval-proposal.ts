import { randomUUID } from "node:crypto"
import { z } from "zod"
import { readOptions } from "../../core/read-options.ts"
import { deepFreeze } from "../../internal/deep-freeze.ts"
import { type PolicyChange, SandboxPolicy } from "../../policy/index.ts"
import {
  APPROVAL_KINDS,
  type ApprovalKind,
  type ApprovalPayloads,
  hashPayload,
  readPayload,
} from "./approval-payload.ts"
import { type RuleSubject, isWider } from "./approval-rules.ts"
import { durationSchema } from "./duration-schema.ts"
import { type ApprovalRisk, type GateRequest, RISKS, policyChangeSchema } from "./gate-request.ts"

/** The policy, or how to read the one in force: it is read again when the approval is used. */
export type PolicySource = SandboxPolicy | (() => SandboxPolicy | undefined)

/** Something that an agent wants to do. */
export type ApprovalProposal<Kind extends ApprovalKind = ApprovalKind> = {
  readonly [Each in Kind]: {
    readonly kind: Each
    readonly payload: ApprovalPayloads[Each]
    readonly agent: string
    /** @default "medium" */
    readonly risk?: ApprovalRisk | undefined
    /** What it would run under. Without, it counts as wider than deny-all. */
    readonly policy?: PolicySource | undefined
    /** What it could reach that no policy tells of, such as devices, or all of this machine. @default [] */
    readonly beyondPolicy?: readonly PolicyChange[] | undefined
    /** Short texts that help to decide; long ones are shortened, visibly. @default [] */
    readonly context?: readonly string[] | undefined
    /** Whether the tool itself wants an approval, for rules. @default true */
    readonly asks?: boolean | undefined
    /** As "15m", or in milliseconds. @default that of the gate */
    readonly expiresIn?: string | number | undefined
  }
}[Kind]

export interface RequestApprovalOptions {
  readonly signal?: AbortSignal | undefined
  /** Whether to reject with APPROVAL_PENDING instead of waiting. @default that of the gate */
  readonly suspend?: boolean | undefined
}

const MAX_CONTEXT = 1000
const isSource = (value: unknown): boolean => value instanceof SandboxPolicy || typeof value === "function"

const proposalSchema = z.strictObject({
  kind: z.enum(APPROVAL_KINDS),
  payload: z.unknown(),
  agent: z.string().min(1),
  risk: z.enum(RISKS).default("medium"),
  policy: z.custom<PolicySource>(isSource, "is no SandboxPolicy, and no function that gives one").optional(),
  beyondPolicy: z.array(policyChangeSchema).readonly().default([]),
  context: z.array(z.string()).max(50).default([]),
  asks: z.boolean().default(true),
  expiresIn: durationSchema.optional(),
})

export interface ReadProposal {
  readonly request: GateRequest
  readonly subject: RuleSubject
  readonly policy: PolicySource | undefined
}

export interface ReadProposalOptions {
  readonly now: number
  readonly expiresInMs: number
  readonly languageName: (language: string) => string
}

/** Makes a request of a proposal, and what rules look at. */
export function readProposal(
  proposal: unknown,
  { now, expiresInMs, languageName }: ReadProposalOptions,
): ReadProposal {
  const given = readOptions("a request for an approval", proposalSchema, proposal)
  const { kind, agent, risk, asks, context } = given
  const payload = readPayload(kind, given.payload)
  const policy = currentPolicy(given.policy)
  const changes = changesOf(payload, policy, given.beyondPolicy)
  const request = {
    id: randomUUID(),
    kind,
    payload,
    sha256: hashPayload(payload),
    agent,
    risk,
    policySha256: "from" in payload ? new SandboxPolicy(payload.from).sha256 : policy?.sha256,
    widenings: changes ?? given.beyondPolicy,
    context: context.map(shortened),
    created: now,
    expires: now + (given.expiresIn ?? expiresInMs),
  }
  const named = (language: string): string => {
    try {
      return languageName(language)
    } catch {
      return language
    }
  }
  const subject = {
    kind,
    agent,
    risk,
    asks,
    tool: "tool" in payload ? payload.tool : undefined,
    languages: "codeBlocks" in payload ? payload.codeBlocks.map(({ language }) => named(language)) : [],
    wider: isWider(kind, changes),
  }
  return { request: deepFreeze(request) as GateRequest, subject, policy: given.policy }
}

export function currentPolicy(source: PolicySource | undefined): SandboxPolicy | undefined {
  return typeof source === "function" ? source() : source
}

function changesOf(
  payload: ApprovalPayloads[ApprovalKind],
  policy: SandboxPolicy | undefined,
  beyond: readonly PolicyChange[],
): readonly PolicyChange[] | undefined {
  if (!("from" in payload)) return policy && [...policy.widenings(), ...beyond]
  return new SandboxPolicy(payload.to).diff(new SandboxPolicy(payload.from))
}

function shortened(text: string): string {
  if (text.length <= MAX_CONTEXT) return text
  return `${text.slice(0, MAX_CONTEXT).replace(/\p{Cs}$/u, "")} … (${text.length - MAX_CONTEXT} characters more)`
}
