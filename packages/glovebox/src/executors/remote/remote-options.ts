import { z } from "zod"
import { type AgentRuntime, GloveboxError, agentId } from "../../core/index.ts"
import { readOptions } from "../../core/read-options.ts"
import { describe } from "../../internal/describe.ts"

export interface RemoteCodeExecutorOptions {
  /** The runtime through which the machine with the sandbox is reached. */
  readonly runtime: AgentRuntime
  /** The agent type under which code execution is served. @default "executor" */
  readonly agentType?: string | undefined
  /** Tells executors apart: who knows it shares the files and may end the runs. @default a random UUID */
  readonly key?: string | undefined
  /** How long the far end may be silent before a call fails with SEND_TIMEOUT; not how long code may run. @default 30_000 */
  readonly replyTimeoutMs?: number | undefined
  /** How much one result may hold, files and all. @default 256 MiB */
  readonly maxResultBytes?: number | undefined
}

const schema = z.strictObject({
  runtime: z.custom<AgentRuntime>(
    (value) => typeof value === "object" && value !== null && "send" in value && "addMessageType" in value,
    { error: "Pass an AgentRuntime." },
  ),
  agentType: z.string().default("executor"),
  key: z.string().optional(),
  replyTimeoutMs: z.int().min(100).max(3_600_000).default(30_000),
  maxResultBytes: z
    .int()
    .min(1)
    .default(256 * 1024 ** 2),
})

export type RemoteOptions = z.output<typeof schema>

export function readRemoteOptions(options: RemoteCodeExecutorOptions): RemoteOptions {
  const read = readOptions("RemoteCodeExecutor", schema, options)
  if (read.key === "")
    throw new GloveboxError("OPTION_INVALID", `key is ${describe(read.key)}. Leave it out, or name one.`)
  // Refuses a type or a key that no agent can have.
  agentId(read.agentType, read.key)
  return read
}
