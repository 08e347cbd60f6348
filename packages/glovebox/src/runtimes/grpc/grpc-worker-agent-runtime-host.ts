import { setTimeout as sleep } from "node:timers/promises"
import { Server } from "@grpc/grpc-js"
import { GloveboxError } from "../../core/glovebox-error.ts"
import { safeLogger, warningLogger } from "../../core/logger.ts"
import { checkGrace } from "../../core/single-threaded/runtime-options.ts"
import { errorMessage } from "../../internal/error-message.ts"
import { type HostMetrics, newMetrics } from "./host/host-metrics.ts"
import {
  type GrpcWorkerAgentRuntimeHostOptions,
  type HostSettings,
  readHostOptions,
} from "./host/host-options.ts"
import { HostService } from "./host/host-service.ts"
import { type HostStatus, statusOf } from "./host/host-status.ts"
import { serverOptions } from "./host/server-options.ts"
import { Switchboard } from "./host/switchboard.ts"
import { AccessGrants, refusePlaintext, serverCredentials } from "./security/index.ts"
import { AGENT_RPC_SERVICE } from "./wire/service.ts"

interface Running {
  readonly server: Server
  readonly board: Switchboard
  readonly service: HostService
}

const FLUSH_MS = 1000

/** Connects workers in other processes, of Glovebox and of AutoGen, so that their agents reach each other. */
export class GrpcWorkerAgentRuntimeHost implements AsyncDisposable {
  readonly #settings: HostSettings
  readonly #grants: AccessGrants
  readonly #logger
  #address: string
  #running: Running | undefined
  #starting: Promise<void> | undefined
  #stopping: Promise<void> | undefined

  constructor(options: GrpcWorkerAgentRuntimeHostOptions) {
    this.#settings = readHostOptions(options)
    this.#logger = safeLogger(this.#settings.logger ?? warningLogger)
    const { address, tokens, authenticate } = this.#settings
    refusePlaintext(address, this.#settings)
    this.#grants = new AccessGrants({ tokens, authenticate, logger: this.#logger })
    this.#address = address
  }

  /** Where it listens; the real port once it has started. */
  get address(): string {
    return this.#address
  }

  /** Listens. A host runs once: to run again make a new one. */
  async start(): Promise<void> {
    if (this.#stopping) throw new GloveboxError("RUNTIME_STOPPED", "The host was stopped. Make a new one.")
    await (this.#starting ??= this.#start())
  }

  /** Lets requests end for the grace time, answers all that still wait, and closes every connection. */
  async stop({
    graceMs = this.#settings.graceMs,
  }: { readonly graceMs?: number | undefined } = {}): Promise<void> {
    checkGrace(graceMs)
    await (this.#stopping ??= this.#stop(graceMs))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  /** Its workers, for health checks and metrics. */
  status(): HostStatus {
    return statusOf(this.#address, this.#running?.board, this.#stopping !== undefined)
  }

  /** What it did since it started. */
  metrics(): Readonly<HostMetrics> {
    return { ...(this.#running?.board.metrics ?? newMetrics()) }
  }

  async #start(): Promise<void> {
    const settings = this.#settings
    const credentials = await serverCredentials(settings, settings.address)
    const server = new Server(serverOptions(settings))
    const board = new Switchboard(settings, this.#logger, ({ clientId }) => service.release(clientId))
    const service = new HostService(board, settings, this.#grants, this.#logger)
    server.addService(AGENT_RPC_SERVICE, service.handlers())
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync(settings.address, credentials, (error, bound) => {
        if (error) reject(cannotListen(settings.address, error))
        else resolve(bound)
      })
    })
    this.#address = settings.address.replace(/:0$/, `:${port}`)
    this.#running = { server, board, service }
    if (this.#stopping) server.forceShutdown()
  }

  async #stop(graceMs: number): Promise<void> {
    await this.#starting?.catch(() => {})
    if (!this.#running) return
    const { server, board, service } = this.#running
    service.isStopping = true
    board.requests.isStopping = true
    board.events.isStopping = true
    await board.requests.whenSettled(graceMs)
    board.stop()
    await flushed(board)
    for (const session of board.sessions) board.end(session, "left")
    const shutdown = new Promise<void>((resolve) => {
      server.tryShutdown(() => resolve())
    })
    await Promise.race([shutdown, sleep(FLUSH_MS, undefined, { ref: false })])
    server.forceShutdown()
  }
}

/** The last answers are with the connections. */
async function flushed(board: Switchboard): Promise<void> {
  const until = performance.now() + FLUSH_MS
  const hasMore = (): boolean => [...board.sessions].some(({ link }) => link?.isAttached && link.queued > 0)
  while (hasMore() && performance.now() < until) await sleep(5)
}

function cannotListen(address: string, cause: Error): GloveboxError {
  const text = errorMessage(cause)
  return new GloveboxError("HOST_UNAVAILABLE", `The host cannot listen at ${address}: ${text}`, { cause })
}
