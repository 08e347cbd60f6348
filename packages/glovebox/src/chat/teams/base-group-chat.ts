import { randomUUID } from "node:crypto"
import {
  type AgentId,
  type AgentRuntime,
  type Component,
  type ComponentModel,
  GloveboxError,
  type JsonObject,
  SingleThreadedAgentRuntime,
  agentId,
} from "../../core/index.ts"
import { errorMessage } from "../../internal/error-message.ts"
import { type ChatMessage, MessageFactory } from "../messages/index.ts"
import {
  type RunOptions,
  type RunStream,
  type Task,
  type TaskResult,
  drain,
  readTask,
} from "../task/index.ts"
import { ChatAgentContainer } from "./chat-agent-container.ts"
import { ChatThread } from "./chat-thread.ts"
import { GROUP_CHAT_MESSAGES, GroupChatStart, GroupChatTermination } from "./group-chat-messages.ts"
import { GroupChatManager, type Member } from "./group-chat-manager.ts"
import { OutputAgent } from "./output-agent.ts"
import { type Participant, isChatAgent } from "./participant.ts"
import type { SpeakerPolicy } from "./speaker-policy.ts"
import type { ReadTeamOptions } from "./team-options.ts"
import { TeamRun } from "./team-run.ts"
import { type TeamState, invalid, readTeamState } from "./team-state.ts"
import type { Team } from "./team.ts"
import { TurnGate } from "./turn-gate.ts"

/** The base of teams: participants as agents of a runtime, a manager who gives them the word, and a stream of it all. */
export abstract class BaseGroupChat implements Team, Component {
  readonly name: string
  readonly description: string
  protected readonly participants: readonly Participant[]
  protected readonly options: ReadTeamOptions
  readonly #policy: SpeakerPolicy
  readonly #factory: MessageFactory
  readonly #thread: ChatThread
  readonly #gate = new TurnGate()
  readonly #manager: GroupChatManager
  readonly #ids: { readonly manager: AgentId; readonly output: AgentId }
  readonly #members: readonly Member[]
  #embedded: SingleThreadedAgentRuntime | undefined
  #registered: Promise<AgentRuntime> | undefined
  #run: TeamRun | undefined
  #resume: (() => void) | undefined
  #isClosed = false

  constructor(participants: readonly Participant[], options: ReadTeamOptions, policy: SpeakerPolicy) {
    this.name = options.name ?? this.constructor.name
    this.description = options.description ?? `A team of ${participants.map(({ name }) => name).join(", ")}.`
    this.participants = [...participants]
    this.options = options
    this.#policy = policy
    this.#factory = new MessageFactory(options.customMessageTypes)
    this.#thread = new ChatThread(participants.map(({ name }) => name))
    const key = randomUUID()
    const idOf = (role: string): AgentId => agentId(`${role}_${key}`, key)
    this.#ids = { manager: idOf("manager"), output: idOf("output") }
    this.#members = participants.map(({ name, description }) => ({
      name,
      description,
      id: idOf(`participant.${name}`),
    }))
    this.#manager = new GroupChatManager({
      team: this.name,
      members: this.#members,
      output: this.#ids.output,
      policy,
      thread: this.#thread,
      gate: this.#gate,
      condition: options.terminationCondition,
      maxTurns: options.maxTurns,
      turnTimeoutMs: options.turnTimeout,
      emitTeamEvents: options.emitTeamEvents,
    })
  }

  abstract toComponent(): ComponentModel

  async run(task?: Task, options?: RunOptions): Promise<TaskResult> {
    return drain(this.runStream(task, options))
  }

  async *runStream(task?: Task, { signal, outputTaskMessages = true }: RunOptions = {}): RunStream {
    const messages = readTask(task)
    signal?.throwIfAborted()
    this.#checkIdle("run")
    const run = new TeamRun(this.#gate, signal)
    this.#run = run
    try {
      return yield* run.follow(this.#work(run, messages, outputTaskMessages))
    } finally {
      this.#run = undefined
    }
  }

  async #work(
    run: TeamRun,
    messages: readonly ChatMessage[],
    outputTaskMessages: boolean,
  ): Promise<Omit<TaskResult, "type" | "messages">> {
    const runtime = await this.#register()
    const { stopReason, stopKind, usage } = await runtime.send(
      GroupChatStart({ messages, outputTaskMessages }),
      this.#ids.manager,
      { signal: run.signal, expect: GroupChatTermination },
    )
    return { stopReason, stopKind, usage }
  }

  async reset(): Promise<void> {
    this.#checkIdle("reset")
    await this.#register()
    this.#manager.turns = 0
    await this.#manager.startOver(new AbortController().signal)
    await this.#policy.reset()
    await this.options.terminationCondition?.reset()
  }

  async pause(): Promise<void> {
    this.#resume ??= this.#gate.hold()
    for (const participant of this.participants) {
      await (isChatAgent(participant) ? participant.onPause() : participant.pause())
    }
  }

  async resume(): Promise<void> {
    for (const participant of this.participants) {
      await (isChatAgent(participant) ? participant.onResume() : participant.resume())
    }
    this.#resume?.()
    this.#resume = undefined
  }

  async saveState(): Promise<JsonObject> {
    const release = this.#gate.hold()
    try {
      await this.#gate.atRest()
      const participants: Record<string, JsonObject> = {}
      for (const participant of this.participants) {
        participants[participant.name] = await participant.saveState()
      }
      return plain({
        type: "TeamState",
        version: 1,
        team: this.constructor.name,
        participants,
        ...this.#thread.save(),
        turns: this.#manager.turns,
        policy: await this.#policy.saveState(),
        condition: this.options.terminationCondition?.saveState() ?? null,
      })
    } finally {
      release()
    }
  }

  async loadState(state: JsonObject): Promise<void> {
    this.#checkIdle("loadState")
    const names = this.participants.map(({ name }) => name)
    const read = readTeamState(this.constructor.name, names, state)
    const before = readTeamState(this.constructor.name, names, await this.saveState())
    try {
      await this.#load(read)
    } catch (error) {
      await this.#load(before)
      throw invalid(`The state of ${this.name} cannot be restored: ${errorMessage(error)}`, error)
    }
  }

  async #load(state: TeamState): Promise<void> {
    const { terminationCondition } = this.options
    const items = state.thread.map((item) => this.#factory.create(item))
    const said = state.said.map(({ message, by }) => ({
      message: this.#factory.create(message) as ChatMessage,
      by,
    }))
    for (const participant of this.participants) {
      await participant.loadState(state.participants[participant.name] ?? {})
    }
    await this.#policy.loadState(state.policy)
    if (state.condition && terminationCondition) terminationCondition.loadState(state.condition)
    else await terminationCondition?.reset()
    this.#thread.load(items, said, state)
    this.#manager.turns = state.turns
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#run?.leave(new GloveboxError("RUN_LEFT", `${this.name} was closed.`))
    const runtime = await this.#registered?.catch(() => undefined)
    if (this.#embedded) await this.#embedded.close()
    else if (runtime) await this.#leaveRuntime(runtime)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #checkIdle(what: string): void {
    if (this.#isClosed) {
      throw new GloveboxError("RUN_ACTIVE", `${this.name} is closed and cannot ${what}. Make another team.`)
    }
    if (this.#run) {
      throw new GloveboxError(
        "RUN_ACTIVE",
        `${this.name} is at work already. Wait for that run before ${what}.`,
      )
    }
  }

  /** Registers everybody with the runtime, once. */
  async #register(): Promise<AgentRuntime> {
    this.#registered ??= this.#registerAll().catch((error: unknown) => {
      this.#registered = undefined
      throw error
    })
    return this.#registered
  }

  async #registerAll(): Promise<AgentRuntime> {
    const runtime = this.options.runtime ?? this.#ownRuntime()
    for (const type of GROUP_CHAT_MESSAGES) runtime.addMessageType(type)
    for (const [index, participant] of this.participants.entries()) {
      const member = this.#members[index]
      if (member) {
        await runtime.registerInstance(member.id, new ChatAgentContainer(participant, this.#ids.output))
      }
    }
    const output = new OutputAgent(async (item, signal) => this.#run?.take(item, signal))
    await runtime.registerInstance(this.#ids.output, output)
    await runtime.registerInstance(this.#ids.manager, this.#manager)
    return runtime
  }

  async #leaveRuntime(runtime: AgentRuntime): Promise<void> {
    this.#registered = undefined
    for (const id of [this.#ids.manager, ...this.#members.map((member) => member.id), this.#ids.output]) {
      await runtime.removeAgent(id)
    }
  }

  #ownRuntime(): SingleThreadedAgentRuntime {
    this.#embedded ??= new SingleThreadedAgentRuntime()
    this.#embedded.start()
    return this.#embedded
  }
}

// Messages are frozen, and whoever gets the state may change it.
function plain(state: object): JsonObject {
  return JSON.parse(JSON.stringify(state)) as JsonObject
}
