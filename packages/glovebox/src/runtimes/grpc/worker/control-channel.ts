import type { ClientDuplexStream } from "@grpc/grpc-js"
import { type AgentId, formatAgentId } from "../../../core/agent-id.ts"
import type { AgentMetadata } from "../../../core/agent-metadata.ts"
import type { CallOptions } from "../../../core/agent-runtime.ts"
import { ERROR_CODES, GloveboxError } from "../../../core/glovebox-error.ts"
import type { JsonObject } from "../../../core/json.ts"
import { watchAbort } from "../../../internal/watch-abort.ts"
import { type ControlContent, packAny, unpackAny } from "../wire/codec.ts"
import type { ControlMessage, WireAny } from "../wire/wire-message.ts"
import { answerControl } from "./control-answer.ts"
import type { ControlAction, ControlActions } from "./control-call.ts"
import type { HostConnection } from "./host-connection.ts"

interface PendingControl {
  resolve(content: ControlContent): void
  reject(error: unknown): void
}

export interface ControlChannelOptions {
  readonly clientId: string
  readonly timeoutMs: number
  readonly connection: HostConnection
  readonly actions: ControlActions
}

/** Asks for the state and the description of agents elsewhere, and answers for those here. */
export class ControlChannel {
  readonly #options: ControlChannelOptions
  readonly #pending = new Map<string, PendingControl>()
  #stream: ClientDuplexStream<ControlMessage, ControlMessage> | undefined
  #lastId = 0

  constructor(options: ControlChannelOptions) {
    this.#options = options
  }

  /** Opens it for the connection that there is now. */
  open(): void {
    const { connection } = this.#options
    if (this.#stream || !connection.client) return
    const stream = connection.client.openControlChannel(connection.metadata())
    this.#stream = stream
    const closed = (): void => {
      if (this.#stream !== stream) return
      this.#stream = undefined
      this.#refuseAll()
    }
    stream.on("data", (message: ControlMessage) => void this.#receive(message))
    stream.on("error", closed)
    stream.on("end", closed)
  }

  close(): void {
    const stream = this.#stream
    this.#stream = undefined
    stream?.cancel()
    this.#refuseAll()
  }

  async saveState(id: AgentId, options: CallOptions): Promise<JsonObject> {
    const content = await this.#ask(toAgent(id), packAny("SaveStateRequest", { agentId: id }), options)
    if (content.name !== "SaveStateResponse") throw unexpected(content)
    if (content.value.error) throw remoteError(content.value.error)
    return JSON.parse(content.value.state) as JsonObject
  }

  async loadState(id: AgentId, state: JsonObject, options: CallOptions): Promise<void> {
    const request = packAny("LoadStateRequest", { agentId: id, state: JSON.stringify(state) })
    const content = await this.#ask(toAgent(id), request, options)
    if (content.name !== "LoadStateResponse") throw unexpected(content)
    if (content.value.error) throw remoteError(content.value.error)
  }

  async metadata(id: AgentId, options: CallOptions): Promise<AgentMetadata> {
    return (await this.#call(toAgent(id), { action: "metadata", agent: id }, options)) as AgentMetadata
  }

  async remove(id: AgentId, options: CallOptions): Promise<void> {
    await this.#call(toAgent(id), { action: "remove", agent: id }, options)
  }

  /** Asks the worker of a send whether somebody waits for it; answered when somebody does, or it is over. */
  async isWaitedFor(id: string): Promise<boolean> {
    try {
      const worker = id.slice(0, id.lastIndexOf(":"))
      return (await this.#call(`clientid=${worker}`, { action: "waited", send: id }, {})) === true
    } catch {
      // Without an answer it is as if nobody waited: the order of messages is kept.
      return false
    }
  }

  async #call(destination: string, call: ControlAction, options: CallOptions): Promise<unknown> {
    const content = await this.#ask(
      destination,
      packAny("ControlCall", { json: JSON.stringify(call) }),
      options,
    )
    if (content.name !== "ControlAnswer") throw unexpected(content)
    const { code, error, json } = content.value
    if (error) throw remoteError(error, code)
    return JSON.parse(json || "null") as unknown
  }

  async #ask(destination: string, rpcMessage: WireAny, { signal }: CallOptions): Promise<ControlContent> {
    signal?.throwIfAborted()
    this.open()
    const stream = this.#stream
    if (!stream) throw unavailable()
    const { clientId, timeoutMs } = this.#options
    const rpc_id = `${clientId}:c${++this.#lastId}`
    let timer: NodeJS.Timeout | undefined
    let unwatch: (() => void) | undefined
    try {
      return await new Promise<ControlContent>((resolve, reject) => {
        this.#pending.set(rpc_id, { resolve, reject })
        if (signal) unwatch = watchAbort(signal, reject)
        timer = setTimeout(() => reject(late(destination, timeoutMs)), timeoutMs)
        stream.write({ rpc_id, destination, respond_to: `clientid=${clientId}`, rpcMessage })
      })
    } finally {
      clearTimeout(timer)
      unwatch?.()
      this.#pending.delete(rpc_id)
    }
  }

  async #receive({ respond_to: respondTo, rpc_id, rpcMessage }: ControlMessage): Promise<void> {
    const stream = this.#stream
    const content = rpcMessage ? readAny(rpcMessage) : undefined
    if (respondTo) {
      const answer = await answerControl(this.#options.actions, content)
      stream?.write({ rpc_id, destination: respondTo, rpcMessage: answer })
    } else if (content) {
      this.#pending.get(rpc_id)?.resolve(content)
    } else {
      this.#pending.get(rpc_id)?.reject(new GloveboxError("HOST_REFUSED", "The answer cannot be read."))
    }
  }

  #refuseAll(): void {
    for (const pending of this.#pending.values()) pending.reject(lost())
  }
}

function toAgent(id: AgentId): string {
  return `agentid=${formatAgentId(id)}`
}

function readAny(any: WireAny): ControlContent | undefined {
  try {
    return unpackAny(any)
  } catch {
    // What cannot be read is not known.
    return undefined
  }
}

// AutoGen's answers have no field for a code, so it leads the text.
const CODED = /^\[([A-Z_]+)\] /

function remoteError(text: string, code?: string): GloveboxError {
  const name = code || CODED.exec(text)?.[1]
  const known = ERROR_CODES.find((candidate) => candidate === name)
  return new GloveboxError(known ?? "AGENT_FAILED", known && !code ? text.replace(CODED, "") : text)
}

function unexpected({ name }: ControlContent): GloveboxError {
  return new GloveboxError("HOST_REFUSED", `The answer is a ${name}, which nobody asked for.`)
}

function unavailable(): GloveboxError {
  return new GloveboxError("HOST_UNAVAILABLE", "There is no connection to the host.")
}

function lost(): GloveboxError {
  return new GloveboxError("CONNECTION_LOST", "The connection to the host was lost before the answer came.")
}

function late(destination: string, timeoutMs: number): GloveboxError {
  return new GloveboxError("SEND_TIMEOUT", `${destination} gave no answer within ${timeoutMs} ms.`)
}
