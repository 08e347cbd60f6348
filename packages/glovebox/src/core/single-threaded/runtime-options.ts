import type { TracerProvider } from "@opentelemetry/api"
import { describe } from "../../internal/describe.ts"
import type { AccessGuard } from "../access-guard.ts"
import type { MailboxOptions } from "../agent-runtime.ts"
import { GloveboxError } from "../glovebox-error.ts"
import type { InterventionHandler } from "../intervention.ts"
import type { Logger } from "../logger.ts"

export interface SingleThreadedAgentRuntimeOptions {
  /** Looked at in this order. @default [] */
  readonly interventions?: readonly InterventionHandler[] | undefined
  /** False: the first error of a published message's handler stops the runtime and surfaces from stop. @default true */
  readonly ignoreUnhandledExceptions?: boolean | undefined
  /** The deadline of sends that set none. @default none */
  readonly sendTimeoutMs?: number | undefined
  /** For agent types that set none. @default { capacity: Infinity, whenFull: "wait" } */
  readonly mailbox?: MailboxOptions | undefined
  /** Null switches tracing off. @default the global provider of OpenTelemetry */
  readonly tracerProvider?: TracerProvider | null | undefined
  /** @default silent, but errors that reach nobody become process warnings */
  readonly logger?: Logger | undefined
  /** Which agents may use which tools and executors; asked at each use in their handlers. @default all may use all */
  readonly access?: AccessGuard | undefined
}

export function checkAccess(access: unknown): void {
  if (access === undefined) return
  const { allows, authorize } = (access ?? {}) as Partial<AccessGuard>
  if (typeof allows === "function" && typeof authorize === "function") return
  throw new GloveboxError(
    "OPTION_INVALID",
    `access is ${describe(access)}. Pass a guard, such as new ToolAccess({ rules }).`,
  )
}

// setTimeout treats anything longer as no time at all.
const MAX_TIMEOUT_MS = 2 ** 31 - 1

export function checkTimeout(name: string, value: unknown): void {
  if (value === undefined) return
  if (typeof value === "number" && value > 0 && value <= MAX_TIMEOUT_MS) return
  throw new GloveboxError(
    "OPTION_INVALID",
    `${name} is ${describe(value)}. Use a number of milliseconds above 0 and up to ${MAX_TIMEOUT_MS}.`,
  )
}

/** Like a timeout, but no time at all is fine too. */
export function checkGrace(value: unknown): void {
  if (value !== 0) checkTimeout("graceMs", value)
}

export function checkSignal(signal: unknown): asserts signal is AbortSignal | undefined {
  if (signal === undefined || signal instanceof AbortSignal) return
  throw new GloveboxError("OPTION_INVALID", `signal is ${describe(signal)}. Pass an AbortSignal.`)
}
