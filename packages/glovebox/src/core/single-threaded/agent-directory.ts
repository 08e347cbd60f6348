import { describe } from "../../internal/describe.ts"
import { errorMessage } from "../../internal/error-message.ts"
import type { AccessGuard, AccessScope } from "../access-guard.ts"
import { type AgentId, checkAgentId, checkAgentType, formatAgentId } from "../agent-id.ts"
import { inheritedAccess, runInstantiation } from "../ambient-scope.ts"
import type { AgentFactory, AgentRuntime, MailboxOptions, RegisterOptions } from "../agent-runtime.ts"
import type { Agent } from "../agent.ts"
import { GloveboxError } from "../glovebox-error.ts"
import type { AnyMessageType } from "../message.ts"
import { Mailbox } from "./mailbox.ts"
import { type Registration, createRegistration } from "./registration.ts"

export interface AgentDirectoryOptions {
  readonly runtime: AgentRuntime
  readonly mailbox: Required<MailboxOptions>
  readonly access: AccessGuard | undefined
  readonly addMessageType: (type: AnyMessageType) => void
  readonly onCreated: (id: AgentId) => void
  /** Called when an agent was taken out; what waits in the mailbox must be refused. */
  readonly onRemoved: (mailbox: Mailbox, error: unknown) => void
  /** Called when a build fails, whoever asked for it; what waits in the mailbox must be refused. */
  readonly onCreationFailed: (mailbox: Mailbox, error: unknown) => void
}

/** The registered types, and the agents that exist; builds an agent the first time it is needed. */
export class AgentDirectory {
  readonly #registrations = new Map<string, Registration>()
  readonly #options: AgentDirectoryOptions
  #isClosed = false

  constructor(options: AgentDirectoryOptions) {
    this.#options = options
  }

  has(type: string): boolean {
    return this.#registrations.has(type)
  }

  register(type: string, factory: AgentFactory, options: RegisterOptions): void {
    checkAgentType(type)
    if (typeof factory !== "function") {
      throw new GloveboxError(
        "AGENT_INVALID",
        `The factory of "${type}" is ${describe(factory)}. Pass a function.`,
      )
    }
    if (this.#registrations.has(type)) throw duplicate(`Agent type "${type}" is registered already.`)
    this.#registrations.set(type, createRegistration(type, factory, options, this.#options.mailbox))
  }

  /** Undoes `register` when the rest of the registration fails. */
  unregister(type: string): void {
    this.#registrations.delete(type)
  }

  registerInstance(id: AgentId, agent: Agent, options: RegisterOptions): void {
    checkAgentId(id)
    checkAgent(agent, id)
    // Checked also when the type has its options from an earlier instance.
    createRegistration(id.type, undefined, options, this.#options.mailbox)
    const registration = this.#registrations.get(id.type) ?? this.#registerInstanceType(id.type, options)
    if (registration.factory) {
      throw duplicate(`Agent type "${id.type}" is registered with a factory, which builds its agents.`)
    }
    if (registration.mailboxes.has(id.key))
      throw duplicate(`Agent ${formatAgentId(id)} is registered already.`)
    const mailbox = this.#addMailbox(id, registration)
    try {
      this.#adopt(mailbox, agent)
    } catch (error) {
      this.forget(mailbox)
      throw error
    }
  }

  /** The mailbox of an agent, which need not exist yet. */
  mailbox(id: AgentId): Mailbox {
    const registration = this.#registrations.get(id?.type)
    return registration?.mailboxes.get(id.key) ?? this.#newMailbox(id, registration)
  }

  /** The agents that exist. */
  agents(): Mailbox[] {
    return this.mailboxes().filter((mailbox) => mailbox.agent !== undefined)
  }

  /** The agent of a mailbox; built once, however many ask at the same time. */
  agent(mailbox: Mailbox): Agent | Promise<Agent> {
    if (mailbox.agent) return mailbox.agent
    if (mailbox.creating) return mailbox.creating
    if (this.#isClosed) throw new GloveboxError("RUNTIME_STOPPED", "The runtime was closed. Make a new one.")
    const { factory } = mailbox.registration
    const { id } = mailbox
    try {
      const binding = { id, runtime: this.#options.runtime }
      const access = mailbox.head?.access ?? mailbox.access ?? inheritedAccess()
      const made = runInstantiation(binding, mailbox.head, access, () => factory?.(id))
      if (!(made instanceof Promise)) return this.#adopt(mailbox, made)
      mailbox.creating = this.#create(mailbox, made)
      return mailbox.creating
    } catch (error) {
      throw this.#creationFailed(mailbox, error)
    }
  }

  /** Forgets an agent, so that the next message builds a new one. */
  forget(mailbox: Mailbox): void {
    const { id, registration } = mailbox
    mailbox.isForgotten = true
    if (registration.mailboxes.get(id.key) !== mailbox) return
    registration.mailboxes.delete(id.key)
    if (!registration.factory && registration.mailboxes.size === 0) this.#registrations.delete(id.type)
  }

  /** The mailbox of an agent, if there is one. */
  find({ key, type }: AgentId): Mailbox | undefined {
    return this.#registrations.get(type)?.mailboxes.get(key)
  }

  /** All mailboxes, also those whose agents are not built yet. */
  mailboxes(): Mailbox[] {
    return [...this.#registrations.values()].flatMap(({ mailboxes }) => [...mailboxes.values()])
  }

  /** Takes an agent out whatever it is doing; one that is being built is closed when it is there. */
  async evict(mailbox: Mailbox): Promise<void> {
    const { creating } = mailbox
    await this.remove(mailbox)
    if (creating) await (await creating.catch(() => undefined))?.close()
  }

  /** Takes back an agent that was built in vain; messages that came meanwhile will build it again. */
  async discard(mailbox: Mailbox): Promise<void> {
    const { agent } = mailbox
    mailbox.agent = undefined
    if (mailbox.length === 0) this.forget(mailbox)
    await agent?.close()
  }

  /** Takes an agent out and closes it; what waits for it is refused. */
  async remove(mailbox: Mailbox): Promise<void> {
    const { agent, id } = mailbox
    mailbox.agent = undefined
    this.forget(mailbox)
    this.#options.onRemoved(
      mailbox,
      new GloveboxError("AGENT_UNKNOWN", `Agent ${formatAgentId(id)} was removed.`),
    )
    await agent?.close()
  }

  /** True when the agent exists already. */
  exists({ type, key }: AgentId): boolean {
    return this.#registrations.get(type)?.mailboxes.get(key)?.agent !== undefined
  }

  /** Closes every agent, whether or not others fail to close. */
  async close(): Promise<void> {
    this.#isClosed = true
    const mailboxes = this.agents()
    const results = await Promise.allSettled(mailboxes.map(async ({ agent }) => agent?.close()))
    const errors = results.flatMap((result, index) => {
      if (result.status === "fulfilled") return []
      const id = mailboxes[index]?.id
      return [{ name: id ? formatAgentId(id) : "?", error: result.reason as unknown }]
    })
    if (errors.length === 0) return
    throw new GloveboxError(
      "AGENT_CLOSE_FAILED",
      `${errors.length} of ${mailboxes.length} agents failed to close: ${errors.map(({ name }) => name).join(", ")}.`,
      {
        cause: errors.length === 1 ? errors[0]?.error : new AggregateError(errors.map(({ error }) => error)),
      },
    )
  }

  #registerInstanceType(type: string, options: RegisterOptions): Registration {
    const registration = createRegistration(type, undefined, options, this.#options.mailbox)
    this.#registrations.set(type, registration)
    return registration
  }

  #newMailbox(id: AgentId, registration: Registration | undefined): Mailbox {
    checkAgentId(id)
    if (!registration) {
      const known = [...this.#registrations.keys()].slice(0, 20).join(", ") || "none"
      throw new GloveboxError(
        "AGENT_TYPE_UNKNOWN",
        `No agent type "${id.type}" is registered. Register it first. Known: ${known}.`,
      )
    }
    if (!registration.factory) {
      throw new GloveboxError(
        "AGENT_UNKNOWN",
        `There is no agent ${formatAgentId(id)}: type "${id.type}" has registered instances only. Use one of their keys.`,
      )
    }
    return this.#addMailbox(id, registration)
  }

  #addMailbox({ type, key }: AgentId, registration: Registration): Mailbox {
    const mailbox = new Mailbox(Object.freeze({ type, key }), registration)
    mailbox.access = this.#accessOf(type, type)
    registration.mailboxes.set(key, mailbox)
    return mailbox
  }

  #accessOf(agentType: string, agent: string): AccessScope | undefined {
    const { access: guard } = this.#options
    return guard && { guard, agent, agentType, outer: undefined }
  }

  async #create(mailbox: Mailbox, made: Promise<Agent>): Promise<Agent> {
    try {
      const agent = this.#adopt(mailbox, await made)
      // The runtime was closed while the factory ran: nobody else will close this one.
      if (this.#isClosed) await agent.close()
      return agent
    } catch (error) {
      throw this.#creationFailed(mailbox, error)
    } finally {
      mailbox.creating = undefined
    }
  }

  #adopt(mailbox: Mailbox, agent: Agent | undefined): Agent {
    checkAgent(agent, mailbox.id)
    agent.bind(mailbox.id, this.#options.runtime)
    for (const type of agent.messageTypes) this.#options.addMessageType(type)
    if (mailbox.access) {
      const { type } = mailbox.id
      mailbox.access = this.#accessOf(type, agent.metadata.name ?? type)
    }
    mailbox.agent = agent
    this.#options.onCreated(mailbox.id)
    return agent
  }

  #creationFailed(mailbox: Mailbox, cause: unknown): GloveboxError {
    this.forget(mailbox)
    const error = new GloveboxError(
      "AGENT_CREATION_FAILED",
      `Agent ${formatAgentId(mailbox.id)} could not be built: ${errorMessage(cause)}`,
      { cause },
    )
    this.#options.onCreationFailed(mailbox, error)
    return error
  }
}

function checkAgent(agent: unknown, id: AgentId): asserts agent is Agent {
  const candidate = (typeof agent === "object" && agent !== null ? agent : {}) as Partial<Agent>
  const { bind, messageTypes, onMessage } = candidate
  if (typeof onMessage === "function" && typeof bind === "function" && Array.isArray(messageTypes)) return
  throw new GloveboxError(
    "AGENT_INVALID",
    `${describe(agent)} is not an agent for ${formatAgentId(id)}. Extend RoutedAgent or BaseAgent.`,
  )
}

function duplicate(message: string): GloveboxError {
  return new GloveboxError("AGENT_ALREADY_REGISTERED", message)
}
