import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { type Server, createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { z } from "zod"
import { GloveboxError } from "../../../core/index.ts"
import { readOptions } from "../../../core/read-options.ts"
import { abortable } from "../../../internal/abortable.ts"
import { usedAlready } from "../approval-error.ts"
import type { ApprovalProvider, AskOptions } from "../approval-provider.ts"
import type { GateRequest } from "../gate-request.ts"
import { BearerTokens } from "./bearer-tokens.ts"
import { handleApprovals } from "./handle-approvals.ts"
import { QueuedApproval } from "./queued-approval.ts"

export interface HttpApprovalQueueOptions {
  /** @default "127.0.0.1" */
  readonly host?: string | undefined
  /** @default 0, any that is free */
  readonly port?: number | undefined
  /** By the name of whoever holds it, which is recorded. @default one for "approver", made by chance */
  readonly tokens?: Readonly<Record<string, string>> | undefined
  /** @default 4 MiB */
  readonly maxBodyBytes?: number | undefined
}

const optionsSchema = z.strictObject({
  host: z.string().min(1).default("127.0.0.1"),
  port: z.int().min(0).max(65_535).default(0),
  tokens: z
    .record(z.string().min(1), z.string().regex(/^[\x21-\x7e]{16,}$/, "has not 16 plain characters at least"))
    .refine((tokens) => Object.keys(tokens).length > 0, "is empty")
    .optional(),
  maxBodyBytes: z
    .int()
    .min(1)
    .default(4 * 1024 ** 2),
})

const MAX_CONNECTIONS = 64
const TIMEOUT_MS = 15_000

/** Requests over HTTP, for another process with a token to answer. It listens from the first request on, or `start()`. */
export class HttpApprovalQueue implements ApprovalProvider, AsyncDisposable {
  readonly name: string = "HTTP queue"
  readonly tokens: Readonly<Record<string, string>>
  readonly #host: string
  readonly #port: number
  readonly #server: Server
  readonly #queued = new Map<string, QueuedApproval>()
  /** What was used, and when it expires: several gates may have the same state. */
  readonly #used = new Map<string, number>()
  #started: Promise<string> | undefined
  #isStopped = false

  constructor(options: HttpApprovalQueueOptions = {}) {
    const { host, port, tokens, maxBodyBytes } = readOptions("HttpApprovalQueue", optionsSchema, options)
    this.tokens = Object.freeze(tokens ?? { approver: randomBytes(32).toString("base64url") })
    this.#host = host
    this.#port = port
    const holders = new BearerTokens(this.tokens)
    this.#server = createServer(
      { requestTimeout: TIMEOUT_MS, headersTimeout: TIMEOUT_MS, maxHeaderSize: 16_384 },
      handleApprovals({ queued: this.#queued, holders, maxBodyBytes }),
    )
    this.#server.maxConnections = MAX_CONNECTIONS
  }

  /** Listens; gives the address, without a path. */
  async start(): Promise<string> {
    if (this.#isStopped) throw stopped()
    this.#started ??= this.#listen()
    return this.#started
  }

  /** Ends all connections. Whoever waits for an answer gets none. */
  async stop(): Promise<void> {
    this.#isStopped = true
    for (const entry of this.#queued.values()) entry.fail(stopped())
    await this.#started?.catch(() => {})
    if (!this.#server.listening) return
    const closed = once(this.#server, "close")
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  async ask(request: GateRequest, { signal }: AskOptions): Promise<unknown> {
    await this.post(request, { signal })
    return this.#entry(request).wait(signal)
  }

  async post(request: GateRequest, { signal }: AskOptions): Promise<void> {
    await abortable(this.start(), signal)
    this.#refuseUsed(request)
    this.#entry(request)
  }

  async peek(request: GateRequest): Promise<unknown> {
    this.#refuseUsed(request)
    return this.#queued.get(request.id)?.answer
  }

  withdraw({ id }: GateRequest): Promise<void> {
    this.#queued.delete(id)
    return Promise.resolve()
  }

  claim({ id, expires }: GateRequest): Promise<boolean> {
    this.#queued.delete(id)
    for (const [used, until] of this.#used) if (until <= Date.now()) this.#used.delete(used)
    const isFirst = !this.#used.has(id)
    this.#used.set(id, expires)
    return Promise.resolve(isFirst)
  }

  #refuseUsed({ id }: GateRequest): void {
    if (this.#used.has(id)) throw usedAlready(id)
  }

  #entry(request: GateRequest): QueuedApproval {
    const found = this.#queued.get(request.id)
    if (found) return found
    const entry = new QueuedApproval(request)
    this.#queued.set(request.id, entry)
    return entry
  }

  async #listen(): Promise<string> {
    this.#server.listen({ host: this.#host, port: this.#port, exclusive: true })
    await once(this.#server, "listening")
    const { address, family, port } = this.#server.address() as AddressInfo
    return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`
  }
}

function stopped(): GloveboxError {
  return new GloveboxError("RUNTIME_STOPPED", "The queue of approvals was stopped.")
}
