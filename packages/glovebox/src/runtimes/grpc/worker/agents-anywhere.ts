import type { AgentId } from "../../../core/agent-id.ts"
import type { AgentMetadata } from "../../../core/agent-metadata.ts"
import type { CallOptions } from "../../../core/agent-runtime.ts"
import type { JsonObject } from "../../../core/json.ts"
import { currentDelivery } from "../../../core/single-threaded/dispatcher.ts"
import type { RuntimeParts } from "../../../core/single-threaded/embedding.ts"
import { checkSignal } from "../../../core/single-threaded/runtime-options.ts"
import type { SingleThreadedAgentRuntime } from "../../../core/single-threaded-agent-runtime.ts"
import type { ControlChannel } from "./control-channel.ts"
import type { OutgoingCalls } from "./outgoing-calls.ts"
import type { WorkerPort } from "./worker-port.ts"

export interface AgentsAnywhereOptions {
  readonly local: SingleThreadedAgentRuntime
  readonly parts: RuntimeParts
  readonly port: WorkerPort
  readonly calls: OutgoingCalls
  readonly control: () => ControlChannel | undefined
}

/** State and description of agents, wherever they live. */
export class AgentsAnywhere {
  readonly #options: AgentsAnywhereOptions

  constructor(options: AgentsAnywhereOptions) {
    this.#options = options
  }

  async saveState(id: AgentId, options: CallOptions): Promise<JsonObject> {
    return await this.#inOrder(id, options, (control) =>
      control ? control.saveState(id, options) : this.#options.local.saveAgentState(id, options),
    )
  }

  async loadState(id: AgentId, state: JsonObject, options: CallOptions): Promise<void> {
    await this.#inOrder(id, options, (control) =>
      control
        ? control.loadState(id, state, options)
        : this.#options.local.loadAgentState(id, state, options),
    )
  }

  async metadata(id: AgentId, options: CallOptions): Promise<AgentMetadata> {
    const control = this.#controlFor(id)
    return control
      ? await control.metadata(id, options)
      : await this.#options.local.agentMetadata(id, options)
  }

  async remove(id: AgentId, options: CallOptions): Promise<void> {
    await this.#inOrder(id, options, (control) =>
      control ? control.remove(id, options) : this.#options.local.removeAgent(id, options),
    )
  }

  /** In its place among the messages to the agent that this worker sends. */
  async #inOrder<T>(
    id: AgentId,
    { signal }: CallOptions,
    work: (control: ControlChannel | undefined) => Promise<T>,
  ): Promise<T> {
    checkSignal(signal)
    // A handler may be what those messages wait for.
    if (currentDelivery()) return await work(this.#controlFor(id))
    return await this.#options.calls.inOrder(id, () => work(this.#controlFor(id)), signal)
  }

  /** Undefined when the agent is this worker's matter. */
  #controlFor(id: AgentId): ControlChannel | undefined {
    const { control, parts, port } = this.#options
    if (parts.directory.exists(id)) return undefined
    // AutoGen's host has each type at one worker.
    if (!port.link || (port.isPlain && parts.directory.has(id.type))) return undefined
    return control()
  }
}
