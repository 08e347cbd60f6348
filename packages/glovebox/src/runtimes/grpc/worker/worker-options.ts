import { randomUUID } from "node:crypto"
import { z } from "zod"
import { JSON_CONTENT_TYPE } from "../../../core/json-serializer.ts"
import { readOptions } from "../../../core/read-options.ts"
import type { SingleThreadedAgentRuntimeOptions } from "../../../core/single-threaded/runtime-options.ts"
import { type WorkerTls, refusePlaintext, workerTlsSchema } from "../security/index.ts"
import { PROTOBUF_CONTENT_TYPE } from "../wire/cloud-event.ts"

/** The options of the in-process runtime hold for the agents of this worker. */
export interface GrpcWorkerAgentRuntimeOptions extends SingleThreadedAgentRuntimeOptions {
  /** `host:port`, without a scheme. */
  readonly hostAddress: string
  /** True for a certificate that Node trusts. @default plaintext, to this machine only */
  readonly tls?: WorkerTls | true | undefined
  /** What the host knows this worker by. */
  readonly token?: string | undefined
  /** Lets messages and token go in the clear to another machine. @default false */
  readonly allowPlaintext?: boolean | undefined
  /** Unique among the workers of a host. @default a random UUID */
  readonly clientId?: string | undefined
  /** The largest message that this worker takes. @default 4 MiB */
  readonly maxMessageBytes?: number | undefined
  /** How long `start` waits for the host. @default 10000 */
  readonly connectTimeoutMs?: number | undefined
  /** The deadline of sends that set none. @default 600000 */
  readonly sendTimeoutMs?: number | undefined
  /** How many messages of others this worker works on, or has waiting; the rest waits at the host. @default 1000 */
  readonly maxOutstanding?: number | undefined
  /** How many messages may wait for the host. @default 10000 */
  readonly maxQueued?: number | undefined
  /** @default 64 MiB */
  readonly maxQueuedBytes?: number | undefined
  /** The form of published messages; direct ones are JSON, as AutoGen has it. @default "application/json" */
  readonly payloadSerializationFormat?: typeof JSON_CONTENT_TYPE | typeof PROTOBUF_CONTENT_TYPE | undefined
}

const MIB = 1024 * 1024
const count = z.int().min(1)
const milliseconds = z
  .number()
  .positive()
  .max(2 ** 31 - 1)

const workerSchema = z.strictObject({
  // These are checked by the in-process runtime.
  interventions: z.unknown().optional(),
  ignoreUnhandledExceptions: z.unknown().optional(),
  mailbox: z.unknown().optional(),
  tracerProvider: z.unknown().optional(),
  logger: z.unknown().optional(),
  access: z.unknown().optional(),
  hostAddress: z.string().min(1),
  tls: workerTlsSchema.optional(),
  token: z
    .string()
    .regex(/^[\x21-\x7e]+$/, "has characters that cannot be sent")
    .optional(),
  allowPlaintext: z.boolean().default(false),
  // It is a part of ids and lists on the wire, so it must not hold what divides them.
  clientId: z
    .string()
    .regex(/^[\w\-.]{1,200}$/, 'use letters, digits, "_", "-" or "."')
    .default(() => randomUUID()),
  maxMessageBytes: count
    .min(1024)
    .max(64 * MIB)
    .default(4 * MIB),
  connectTimeoutMs: milliseconds.default(10_000),
  sendTimeoutMs: milliseconds.default(600_000),
  maxOutstanding: count.max(1_000_000).default(1000),
  maxQueued: count.default(10_000),
  maxQueuedBytes: count.default(64 * MIB),
  payloadSerializationFormat: z.enum([JSON_CONTENT_TYPE, PROTOBUF_CONTENT_TYPE]).default(JSON_CONTENT_TYPE),
})

export type WorkerSettings = z.output<typeof workerSchema>

export function readWorkerOptions(options: GrpcWorkerAgentRuntimeOptions): WorkerSettings {
  const settings = readOptions("GrpcWorkerAgentRuntime", workerSchema, options, {
    otherNames: { host_address: "hostAddress", payload_serialization_format: "payloadSerializationFormat" },
  })
  refusePlaintext(settings.hostAddress, settings)
  return settings
}
