import { z } from "zod"
import { type Logger, GloveboxError } from "../../core/index.ts"
import { readOptions } from "../../core/read-options.ts"
import { describe } from "../../internal/describe.ts"
import type { CodeExecutor } from "../code-executor.ts"

export interface ServeCodeExecutorOptions {
  /** The agent type that clients send to. @default "executor" */
  readonly type?: string | undefined
  /** Makes the executor of a client, by its key: what that may do is decided here and nowhere else. */
  readonly executor: (key: string) => CodeExecutor | Promise<CodeExecutor>
  /** How many keys have an executor at a time. @default 64 */
  readonly maxKeys?: number | undefined
  /** After how long without a message a key's executor is stopped, and its files forgotten; and without a read, a run. @default 600_000 */
  readonly idleMs?: number | undefined
  /** How many runs of all keys go on at a time; others wait. @default 16 */
  readonly maxRuns?: number | undefined
  /** How many runs of one key go on at a time; others wait. @default 4 */
  readonly maxRunsPerKey?: number | undefined
  /** How many runs of one key may be there at all, those that wait included. @default 32 */
  readonly maxQueuedPerKey?: number | undefined
  /** How much code or files a client may send for one call. @default 16 MiB */
  readonly maxRequestBytes?: number | undefined
  /** How much code and files of all clients together may be on their way, wait or run. @default 64 MiB */
  readonly maxPendingBytes?: number | undefined
  /** How long a run goes on when its client is not heard of. @default 30_000 */
  readonly leaseMs?: number | undefined
  /** Lets clients run code on this machine itself, by an executor without a sandbox. @default false */
  readonly dangerouslyServeHost?: boolean | undefined
  /** Told of failures in full; clients are told less. */
  readonly logger?: Logger | undefined
}

const MiB = 1024 ** 2
const count = z.int().min(1)
const duration = z
  .int()
  .min(1)
  .max(2 ** 31 - 1)
const fn = z.custom<ServeCodeExecutorOptions["executor"]>((value) => typeof value === "function", {
  error: "Pass a function that makes a CodeExecutor.",
})

const schema = z.strictObject({
  type: z.string().default("executor"),
  executor: fn,
  maxKeys: count.default(64),
  idleMs: duration.default(600_000),
  maxRuns: count.default(16),
  maxRunsPerKey: count.default(4),
  maxQueuedPerKey: count.default(32),
  maxRequestBytes: count.default(16 * MiB),
  maxPendingBytes: count.default(64 * MiB),
  leaseMs: duration.default(30_000),
  dangerouslyServeHost: z.boolean().default(false),
  logger: z.custom<Logger>((value) => typeof value === "object" && value !== null).optional(),
})

export type ServeOptions = z.output<typeof schema>

export function readServeOptions(options: ServeCodeExecutorOptions): ServeOptions {
  return readOptions("serveCodeExecutor", schema, options)
}

/** Refuses what cannot run code, and what would run it without a wall. */
export function checkServedExecutor(executor: CodeExecutor, mayRunOnHost: boolean): void {
  const { stream, stop } = (executor ?? {}) as Partial<CodeExecutor>
  if (typeof stream !== "function" || typeof stop !== "function") {
    throw new GloveboxError("OPTION_INVALID", `The executor is ${describe(executor)}. Return a CodeExecutor.`)
  }
  if (executor.runsOnHost !== true || mayRunOnHost) return
  throw new GloveboxError(
    "HOST_EXECUTION_REFUSED",
    "The executor runs code on this machine without a sandbox, for whoever has a connection. Use one with a sandbox, or say dangerouslyServeHost: true.",
  )
}
