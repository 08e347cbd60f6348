import type { AgentId } from "./agent-id.ts"
import type { AgentMetadata } from "./agent-metadata.ts"
import type { AgentRuntime, CallOptions, ExpectReply, SendOptions } from "./agent-runtime.ts"
import type { Reply } from "./agent.ts"
import type { JsonObject } from "./json.ts"
import type { Message } from "./message.ts"

/** A reference to an agent, wherever it lives. */
export class AgentProxy {
  readonly id: AgentId
  readonly #runtime: AgentRuntime

  constructor(id: AgentId, runtime: AgentRuntime) {
    this.id = id
    this.#runtime = runtime
  }

  metadata(options?: CallOptions): Promise<AgentMetadata> {
    return this.#runtime.agentMetadata(this.id, options)
  }

  send<Fields extends object, Name extends string>(
    message: Message,
    options: SendOptions & ExpectReply<Fields, Name>,
  ): Promise<Message<Fields, Name>>
  send(message: Message, options?: SendOptions): Promise<Reply>
  send(message: Message, options?: SendOptions): Promise<Reply> {
    return this.#runtime.send(message, this.id, options)
  }

  saveState(options?: CallOptions): Promise<JsonObject> {
    return this.#runtime.saveAgentState(this.id, options)
  }

  loadState(state: JsonObject, options?: CallOptions): Promise<void> {
    return this.#runtime.loadAgentState(this.id, state, options)
  }
}
