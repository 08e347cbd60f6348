import { z } from "zod"
import { readOptions } from "../../core/read-options.ts"
import { type AnswerRequest, type ApprovalProvider, functionProvider } from "./approval-provider.ts"
import type { OnDecision, OnRequest } from "./approval-record.ts"
import { type ApprovalRule, rulesSchema } from "./approval-rules.ts"
import { durationSchema } from "./duration-schema.ts"

export interface ApprovalGateOptions {
  /** Whom to ask: a provider, or a function that answers. Without, what must be asked for is denied. */
  readonly provider?: ApprovalProvider | AnswerRequest | undefined
  /** The first that matches decides; what none is about is decided by the defaults. @default [] */
  readonly rules?: readonly ApprovalRule[] | undefined
  /** How long a request can be answered and used, as "15m" or in milliseconds. @default "1h", with suspend "168h" */
  readonly expiresIn?: string | number | undefined
  /** Whether `request` rejects with APPROVAL_PENDING, and does not wait, where there is no answer yet. @default false */
  readonly suspend?: boolean | undefined
  /** Awaited before somebody is asked: if it throws, nobody is, and it is a denial. */
  readonly onRequest?: OnRequest | undefined
  /** Awaited before a grant is given: if it throws, it is a denial. */
  readonly onDecision?: OnDecision | undefined
  /** What rules call a language, for one of several names. @default the name */
  readonly languageName?: ((language: string) => string) | undefined
  /** Milliseconds since 1970. @default Date.now */
  readonly clock?: (() => number) | undefined
}

export interface GateSettings {
  readonly provider: ApprovalProvider | undefined
  readonly rules: readonly ApprovalRule[]
  readonly expiresInMs: number
  readonly suspend: boolean
  readonly onRequest: OnRequest
  readonly onDecision: OnDecision
  readonly languageName: (language: string) => string
  readonly clock: () => number
}

const HOUR = 3_600_000

const aFunction = <T>(): z.ZodCustom<T, T> =>
  z.custom<T>((value) => typeof value === "function", "is no function")
const isProvider = (value: unknown): boolean =>
  typeof value === "function" || typeof (value as Partial<ApprovalProvider> | null)?.ask === "function"

const optionsSchema = z.strictObject({
  provider: z.custom<ApprovalProvider | AnswerRequest>(isProvider, "cannot be asked").optional(),
  rules: rulesSchema.default([]),
  expiresIn: durationSchema.optional(),
  suspend: z.boolean().default(false),
  onRequest: aFunction<OnRequest>().default(() => () => {}),
  onDecision: aFunction<OnDecision>().default(() => () => {}),
  languageName: aFunction<(language: string) => string>().default(() => (language: string) => language),
  clock: aFunction<() => number>().default(() => Date.now),
})

export function readGateOptions(options: ApprovalGateOptions): GateSettings {
  const { provider, expiresIn, ...rest } = readOptions("ApprovalGate", optionsSchema, options)
  return {
    ...rest,
    provider: typeof provider === "function" ? functionProvider("function", provider) : provider,
    expiresInMs: expiresIn ?? (rest.suspend ? 7 * 24 * HOUR : HOUR),
  }
}
