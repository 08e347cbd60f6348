import { Metadata, type ServerDuplexStream, type handleUnaryCall, type sendUnaryData } from "@grpc/grpc-js"
import { GloveboxError } from "../../../core/glovebox-error.ts"
import type { Logger } from "../../../core/logger.ts"
import type { AccessGrants, Grant } from "../security/index.ts"
import type { AgentRpcHandlers } from "../wire/service.ts"
import { toWireSubscription } from "../wire/subscription-wire.ts"
import type { ControlMessage } from "../wire/wire-message.ts"
import { type CallMetadata, channelAnswer, readCallMetadata } from "./call-metadata.ts"
import { type CallRefusal, refuse } from "./call-refusal.ts"
import { openChannel } from "./channel-opener.ts"
import type { HostSettings } from "./host-options.ts"
import { register, subscribe } from "./registration.ts"
import type { Switchboard } from "./switchboard.ts"
import type { WorkerSession } from "./worker-session.ts"

interface Caller {
  readonly clientId: string
  readonly grant: Grant
  readonly call: CallMetadata
}

interface Call<Request> {
  readonly metadata: Metadata
  readonly request: Request
}

interface Refusable {
  readonly metadata: Metadata
  emit(event: "error", error: Error): unknown
}

/** The calls of `agents.AgentRpc`: who may make them, and what they mean. */
export class HostService {
  readonly #board: Switchboard
  readonly #settings: HostSettings
  readonly #grants: AccessGrants
  readonly #logger: Logger
  isStopping = false

  constructor(board: Switchboard, settings: HostSettings, grants: AccessGrants, logger: Logger) {
    this.#board = board
    this.#settings = settings
    this.#grants = grants
    this.#logger = logger
  }

  handlers(): AgentRpcHandlers {
    const board = this.#board
    return {
      OpenChannel: (stream) => void this.#openChannel(stream),
      OpenControlChannel: (stream) => void this.#openControlChannel(stream),
      RegisterAgent: this.#unary({}, (caller, request) => {
        const session = this.#sessionOf(caller)
        return isRefusal(session) ? session : register(board, session, request)
      }),
      AddSubscription: this.#unary({}, (caller, { subscription }) => {
        const session = this.#sessionOf(caller)
        return isRefusal(session) ? session : subscribe(board, session, subscription)
      }),
      RemoveSubscription: this.#unary({}, (caller, { id }) => {
        const session = this.#sessionOf(caller)
        if (isRefusal(session)) return session
        if (board.subscriptions.remove(session, id)) return undefined
        return refuse("NOT_FOUND", "Subscription does not exist, or is of another client.")
      }),
      GetSubscriptions: this.#unary({ subscriptions: [] }, () => ({
        subscriptions: board.subscriptions.list().map((subscription) => toWireSubscription(subscription)),
      })),
    }
  }

  #unary<Request, Response extends object>(
    empty: Response,
    handle: (caller: Caller, request: Request) => Response | CallRefusal | undefined,
  ): handleUnaryCall<Request, Response> {
    const outcomeOf = async (metadata: Metadata, request: Request): Promise<Response | CallRefusal> => {
      try {
        const caller = await this.#admit(metadata)
        return isRefusal(caller) ? caller : (handle(caller, request) ?? empty)
      } catch (error) {
        return this.#failed(error)
      }
    }
    const answer = async (
      { metadata, request }: Call<Request>,
      callback: sendUnaryData<Response>,
    ): Promise<void> => {
      const outcome = await outcomeOf(metadata, request)
      if (isRefusal(outcome)) callback(this.#rejected(outcome, metadata))
      else callback(null, outcome)
    }
    return (call, callback) => void answer(call, callback)
  }

  async #openChannel(stream: ServerDuplexStream<Buffer, Buffer>): Promise<void> {
    // Errors of a stream that was refused have no other listener.
    stream.on("error", ignore)
    const caller = await this.#admit(stream.metadata).catch((error: unknown) => this.#failed(error))
    if (isRefusal(caller)) return this.#end(stream, caller)
    if (stream.cancelled) return undefined
    try {
      const opened = openChannel(this.#board, this.#settings, { ...caller, stream })
      if (isRefusal(opened)) return this.#end(stream, opened)
      stream.sendMetadata(channelAnswer(opened.session, this.#settings, opened.isResumed))
    } catch (error) {
      this.#end(stream, this.#failed(error))
    }
  }

  async #openControlChannel(stream: ServerDuplexStream<ControlMessage, ControlMessage>): Promise<void> {
    stream.on("error", ignore)
    const caller = await this.#admit(stream.metadata).catch((error: unknown) => this.#failed(error))
    const session = isRefusal(caller) ? caller : this.#sessionOf(caller)
    if (isRefusal(session)) return this.#end(stream, session)
    if (stream.cancelled) return undefined
    const { control } = this.#board
    stream.on("data", (message: ControlMessage) => {
      try {
        control.take(session, message)
      } catch (error) {
        this.#logger.error("A control message failed", { error })
      }
    })
    stream.on("end", () => stream.end())
    stream.on("close", () => control.closed(session, stream))
    stream.on("error", () => control.closed(session, stream))
    stream.sendMetadata(new Metadata())
    control.opened(session, stream)
  }

  async #admit(metadata: Metadata): Promise<Caller | CallRefusal> {
    if (this.isStopping) return refuse("UNAVAILABLE", "The host is about to stop.")
    const call = readCallMetadata(metadata)
    const { clientId, authorization } = call
    // AutoGen's own words.
    if (clientId === undefined) return refuse("INVALID_ARGUMENT", "client-id metadata not found.")
    const admission = await this.#grants.authenticate(authorization, clientId)
    if (this.isStopping) return refuse("UNAVAILABLE", "The host is about to stop.")
    if ("refusal" in admission) return refuse(admission.refusal, admission.reason)
    return { clientId, grant: admission.grant, call }
  }

  /** The session of a call that is not about a channel; one that AutoGen's workers may begin before they have any. */
  #sessionOf({ clientId, grant, call }: Caller): WorkerSession | CallRefusal {
    const session = this.#board.sessions.get(clientId)
    if (!session) {
      if (call.secret !== undefined)
        return refuse("UNAVAILABLE", "The session is over. Open a channel again.")
      const created = this.#board.sessions.create(clientId)
      created.grant = grant
      return created
    }
    if (!session.isLink) return session
    if (!session.hasSecret(call.secret)) {
      return refuse("PERMISSION_DENIED", "The call does not have the secret of this client id's session.")
    }
    session.isConfirmed = true
    return session
  }

  #rejected(refusal: CallRefusal, metadata: Metadata): CallRefusal {
    this.#board.metrics.rejectedCalls++
    this.release(readCallMetadata(metadata).clientId ?? "")
    return refusal
  }

  #end(stream: Refusable, refusal: CallRefusal): undefined {
    const { code, details } = this.#rejected(refusal, stream.metadata)
    // A server ends a call with the status of an error that is emitted.
    stream.emit("error", Object.assign(new Error(details), { code, details }))
  }

  /** A client id of which nothing is left may be another token's. */
  release(clientId: string): void {
    // Later: another call of the same client may just have been let in.
    setImmediate(() => {
      if (!this.#board.sessions.get(clientId)) this.#grants.release(clientId)
    })
  }

  #failed(error: unknown): CallRefusal {
    if (GloveboxError.is(error, "QUEUE_FULL")) return refuse("RESOURCE_EXHAUSTED", error.message)
    this.#logger.error("A call failed", { error })
    return refuse("INTERNAL", "The host failed.")
  }
}

function isRefusal(value: object): value is CallRefusal {
  return "code" in value && "details" in value
}

const ignore = (): void => {}
