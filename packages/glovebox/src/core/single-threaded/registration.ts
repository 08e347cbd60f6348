import { describe } from "../../internal/describe.ts"
import type { AgentFactory, MailboxOptions, RegisterOptions } from "../agent-runtime.ts"
import { GloveboxError } from "../glovebox-error.ts"
import type { Mailbox } from "./mailbox.ts"

/** A registered agent type, and the agents of it that exist. */
export interface Registration {
  readonly type: string
  /** Undefined for a type whose agents are registered one by one. */
  readonly factory: AgentFactory | undefined
  readonly concurrency: number
  readonly mailbox: Required<MailboxOptions>
  readonly mailboxes: Map<string, Mailbox>
}

export const DEFAULT_MAILBOX = { capacity: Number.POSITIVE_INFINITY, whenFull: "wait" } as const

export function createRegistration(
  type: string,
  factory: AgentFactory | undefined,
  options: RegisterOptions,
  defaults: Required<MailboxOptions>,
): Registration {
  if (options.subscriptions !== undefined && !Array.isArray(options.subscriptions)) {
    throw new GloveboxError(
      "OPTION_INVALID",
      `subscriptions is ${describe(options.subscriptions)}. Pass a list.`,
    )
  }
  const concurrency = options.concurrency ?? 1
  checkCount("concurrency", concurrency)
  return {
    type,
    factory,
    concurrency,
    mailbox: resolveMailbox(options.mailbox, defaults),
    mailboxes: new Map(),
  }
}

export function resolveMailbox(
  options: MailboxOptions | undefined,
  defaults: Required<MailboxOptions>,
): Required<MailboxOptions> {
  if (options !== undefined && (typeof options !== "object" || options === null)) {
    throw new GloveboxError("OPTION_INVALID", `mailbox is ${describe(options)}. Pass { capacity, whenFull }.`)
  }
  const capacity = options?.capacity ?? defaults.capacity
  const whenFull = options?.whenFull ?? defaults.whenFull
  checkCount("mailbox.capacity", capacity)
  if (whenFull !== "wait" && whenFull !== "reject") {
    throw new GloveboxError(
      "OPTION_INVALID",
      `mailbox.whenFull is ${describe(whenFull)}. Use "wait" or "reject".`,
    )
  }
  return { capacity, whenFull }
}

function checkCount(name: string, value: unknown): void {
  if (value === Number.POSITIVE_INFINITY || (Number.isInteger(value) && Number(value) >= 1)) return
  throw new GloveboxError(
    "OPTION_INVALID",
    `${name} is ${describe(value)}. Use a whole number from 1, or Infinity.`,
  )
}
