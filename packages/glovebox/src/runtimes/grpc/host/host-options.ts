import { z } from "zod"
import type { Logger } from "../../../core/logger.ts"
import { readOptions } from "../../../core/read-options.ts"
import { type Authenticate, type HostTls, type TokenGrant, hostTlsSchema } from "../security/index.ts"

const MEBIBYTE = 1024 * 1024
// setTimeout treats anything longer as no time at all.
const MAX_TIMEOUT_MS = 2 ** 31 - 1

export interface GrpcWorkerAgentRuntimeHostOptions {
  /** `host:port`, or `unix:path`; port 0 picks a free one. */
  readonly address: string
  /** @default none: plaintext, which only loopback may use */
  readonly tls?: HostTls | undefined
  /** Who may connect, and what each may do. @default anyone may do anything */
  readonly tokens?: readonly TokenGrant[] | undefined
  /** In place of tokens. */
  readonly authenticate?: Authenticate | undefined
  /** Plaintext also beyond this machine. @default false */
  readonly allowPlaintext?: boolean | undefined
  /** Up to 64 MiB. @default 4 MiB */
  readonly maxMessageBytes?: number | undefined
  /** How long a worker that lost its connection keeps its place. @default 5000 */
  readonly graceMs?: number | undefined
  /**
   * How long after its start no agent is given a place, only those that workers bring: one of a host before this one may
   * still have it. Messages wait for that. @default graceMs; 0 for port 0, where no host was before
   */
  readonly settleMs?: number | undefined
  /** A worker that is silent for three of them has lost its connection. @default 1000 */
  readonly heartbeatMs?: number | undefined
  /** The deadline of requests that bring none. @default 600_000 */
  readonly requestTimeoutMs?: number | undefined
  /** Messages that may wait for one worker. @default 10_000 */
  readonly maxQueued?: number | undefined
  /** @default 64 MiB */
  readonly maxQueuedBytes?: number | undefined
  /** @default silent, but errors that reach nobody become process warnings */
  readonly logger?: Logger | undefined
}

const milliseconds = z.number().positive().max(MAX_TIMEOUT_MS)
const count = z.number().int().positive()

const schema = z.strictObject({
  address: z.string().min(1, "is empty: name host and port, such as 127.0.0.1:50051"),
  tls: hostTlsSchema.optional(),
  tokens: z.custom<readonly TokenGrant[]>().optional(),
  authenticate: z.custom<Authenticate>().optional(),
  allowPlaintext: z.boolean().default(false),
  maxMessageBytes: z
    .number()
    .int()
    .min(1024, "is less than 1024")
    .max(64 * MEBIBYTE, "is more than 64 MiB")
    .default(4 * MEBIBYTE),
  graceMs: milliseconds.default(5000),
  settleMs: z.number().nonnegative().max(MAX_TIMEOUT_MS).optional(),
  heartbeatMs: milliseconds.default(1000),
  requestTimeoutMs: milliseconds.default(600_000),
  maxQueued: count.default(10_000),
  maxQueuedBytes: count.default(64 * MEBIBYTE),
  logger: z.custom<Logger>().optional(),
})

export interface HostSettings extends z.output<typeof schema> {
  readonly settleMs: number
}

const OTHER_NAMES = {
  extra_grpc_config: "maxMessageBytes",
  port: "address",
  host: "address",
  listen: "address",
  grace: "graceMs",
}

export function readHostOptions(options: GrpcWorkerAgentRuntimeHostOptions): HostSettings {
  const settings = readOptions("GrpcWorkerAgentRuntimeHost", schema, options, { otherNames: OTHER_NAMES })
  const { address, graceMs } = settings
  return { ...settings, settleMs: settings.settleMs ?? (address.endsWith(":0") ? 0 : graceMs) }
}
