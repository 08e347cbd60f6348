import {
  type CallOptions,
  Client,
  type ClientDuplexStream,
  type Metadata,
  type MethodDefinition,
  type ServiceError,
  type UntypedServiceImplementation,
  type handleBidiStreamingCall,
  type handleUnaryCall,
} from "@grpc/grpc-js"
import { CODECS, type Codec } from "./codec.ts"
import type {
  AddSubscriptionRequest,
  ControlMessage,
  EmptyMessage,
  GetSubscriptionsResponse,
  RegisterAgentTypeRequest,
  RemoveSubscriptionRequest,
} from "./wire-message.ts"

// Frames cross gRPC as bytes: the link writes each once, counts its size, and joins several into one message.
const FRAME: Codec<Buffer> = { encode: (bytes) => bytes, decode: (bytes) => bytes as Buffer }

/** AutoGen's `agents.AgentRpc`, for `server.addService` and `AgentRpcClient`. */
export const AGENT_RPC_SERVICE = {
  OpenChannel: stream("OpenChannel", FRAME),
  OpenControlChannel: stream("OpenControlChannel", CODECS.controlMessage),
  RegisterAgent: unary("RegisterAgent", CODECS.registerAgentTypeRequest, CODECS.registerAgentTypeResponse),
  AddSubscription: unary("AddSubscription", CODECS.addSubscriptionRequest, CODECS.addSubscriptionResponse),
  RemoveSubscription: unary(
    "RemoveSubscription",
    CODECS.removeSubscriptionRequest,
    CODECS.removeSubscriptionResponse,
  ),
  GetSubscriptions: unary(
    "GetSubscriptions",
    CODECS.getSubscriptionsRequest,
    CODECS.getSubscriptionsResponse,
  ),
} as const

/** What a host implements. */
export interface AgentRpcHandlers extends UntypedServiceImplementation {
  readonly OpenChannel: handleBidiStreamingCall<Buffer, Buffer>
  readonly OpenControlChannel: handleBidiStreamingCall<ControlMessage, ControlMessage>
  readonly RegisterAgent: handleUnaryCall<RegisterAgentTypeRequest, EmptyMessage>
  readonly AddSubscription: handleUnaryCall<AddSubscriptionRequest, EmptyMessage>
  readonly RemoveSubscription: handleUnaryCall<RemoveSubscriptionRequest, EmptyMessage>
  readonly GetSubscriptions: handleUnaryCall<EmptyMessage, GetSubscriptionsResponse>
}

/** `deadline` is a time or a Date, as gRPC has it. */
export interface UnaryOptions extends CallOptions {
  readonly signal?: AbortSignal | undefined
}

/** The calls of a worker; a call that fails rejects with gRPC's `ServiceError`, an aborted one with the reason. */
export class AgentRpcClient extends Client {
  openChannel(metadata: Metadata, options: CallOptions = {}): ClientDuplexStream<Buffer, Buffer> {
    return this.#open(AGENT_RPC_SERVICE.OpenChannel, metadata, options)
  }

  openControlChannel(
    metadata: Metadata,
    options: CallOptions = {},
  ): ClientDuplexStream<ControlMessage, ControlMessage> {
    return this.#open(AGENT_RPC_SERVICE.OpenControlChannel, metadata, options)
  }

  async registerAgent(
    request: RegisterAgentTypeRequest,
    metadata: Metadata,
    options?: UnaryOptions,
  ): Promise<EmptyMessage> {
    return await this.#call(AGENT_RPC_SERVICE.RegisterAgent, request, metadata, options)
  }

  async addSubscription(
    request: AddSubscriptionRequest,
    metadata: Metadata,
    options?: UnaryOptions,
  ): Promise<EmptyMessage> {
    return await this.#call(AGENT_RPC_SERVICE.AddSubscription, request, metadata, options)
  }

  async removeSubscription(
    request: RemoveSubscriptionRequest,
    metadata: Metadata,
    options?: UnaryOptions,
  ): Promise<EmptyMessage> {
    return await this.#call(AGENT_RPC_SERVICE.RemoveSubscription, request, metadata, options)
  }

  async getSubscriptions(metadata: Metadata, options?: UnaryOptions): Promise<GetSubscriptionsResponse> {
    return await this.#call(AGENT_RPC_SERVICE.GetSubscriptions, {}, metadata, options)
  }

  #open<Request, Response>(
    method: MethodDefinition<Request, Response>,
    metadata: Metadata,
    options: CallOptions,
  ): ClientDuplexStream<Request, Response> {
    return this.makeBidiStreamRequest(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      metadata,
      options,
    )
  }

  async #call<Request, Response>(
    method: MethodDefinition<Request, Response>,
    request: Request,
    metadata: Metadata,
    { signal, ...options }: UnaryOptions = {},
  ): Promise<Response> {
    signal?.throwIfAborted()
    return await new Promise<Response>((resolve, reject) => {
      const call = this.makeUnaryRequest(
        method.path,
        method.requestSerialize,
        method.responseDeserialize,
        request,
        metadata,
        options,
        (error: ServiceError | null, response?: Response) => {
          signal?.removeEventListener("abort", abort)
          if (response !== undefined && error === null) resolve(response)
          else reject(signal?.aborted ? signal.reason : error)
        },
      )
      const abort = (): void => call.cancel()
      signal?.addEventListener("abort", abort, { once: true })
    })
  }
}

function stream<Value>(name: string, codec: Codec<Value>): MethodDefinition<Value, Value> {
  return { ...unary(name, codec, codec), requestStream: true, responseStream: true }
}

function unary<Request, Response>(
  name: string,
  request: Codec<Request>,
  response: Codec<Response>,
): MethodDefinition<Request, Response> {
  return {
    path: `/agents.AgentRpc/${name}`,
    originalName: name,
    requestStream: false,
    responseStream: false,
    requestSerialize: (value) => request.encode(value),
    requestDeserialize: (bytes) => request.decode(bytes),
    responseSerialize: (value) => response.encode(value),
    responseDeserialize: (bytes) => response.decode(bytes),
  }
}
