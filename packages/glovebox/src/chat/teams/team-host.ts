import {
  type Agent,
  type AgentId,
  type AgentRuntime,
  GloveboxError,
  SingleThreadedAgentRuntime,
} from "../../core/index.ts"
import { GROUP_CHAT_MESSAGES } from "./group-chat-messages.ts"

/** Where a team lives: a runtime that is given, or one of its own. */
export class TeamHost {
  readonly #given: AgentRuntime | undefined
  readonly #agents: readonly (readonly [AgentId, Agent])[]
  #own: SingleThreadedAgentRuntime | undefined
  #entered: Promise<AgentRuntime> | undefined

  constructor(given: AgentRuntime | undefined, agents: readonly (readonly [AgentId, Agent])[]) {
    this.#given = given
    this.#agents = agents
  }

  /** Registers everybody with the runtime, once. */
  async enter(): Promise<AgentRuntime> {
    this.#entered ??= this.#register().catch((error: unknown) => {
      this.#entered = undefined
      throw error
    })
    return this.#entered
  }

  /** Leaves a runtime that was given as it was, and ends its own. */
  async close(): Promise<void> {
    const runtime = await this.#entered?.catch(() => undefined)
    if (this.#own) await this.#own.close()
    else if (runtime) await this.#leave(runtime)
  }

  async #register(): Promise<AgentRuntime> {
    const runtime = this.#given ?? this.#start()
    for (const type of GROUP_CHAT_MESSAGES) runtime.addMessageType(type)
    for (const [id, agent] of this.#agents) await runtime.registerInstance(id, agent)
    return runtime
  }

  #start(): SingleThreadedAgentRuntime {
    this.#own ??= new SingleThreadedAgentRuntime()
    this.#own.start()
    return this.#own
  }

  async #leave(runtime: AgentRuntime): Promise<void> {
    this.#entered = undefined
    try {
      for (const [id] of this.#agents.toReversed()) await runtime.removeAgent(id)
    } catch (error) {
      // With one that was closed before, nobody is left in it.
      if (!GloveboxError.is(error, "RUNTIME_STOPPED")) throw error
    }
  }
}
