import { randomUUID } from "node:crypto"
import {
  type AgentId,
  type Component,
  type ComponentModel,
  GloveboxError,
  type JsonObject,
  agentId,
} from "../../core/index.ts"
import { atMost } from "../../internal/at-most.ts"
import { errorMessage } from "../../internal/error-message.ts"
import { type ChatMessage, MessageFactory, isChatMessage } from "../messages/index.ts"
import { WireItems } from "../messages/wire-items.ts"
import { type RunOptions, type RunStream, type Task, type TaskResult, readTask } from "../task/index.ts"
import { ChatAgentContainer } from "./chat-agent-container.ts"
import { ChatThread } from "./chat-thread.ts"
import { GroupChatStart, GroupChatTermination } from "./group-chat-messages.ts"
import { GroupChatManager } from "./group-chat-manager.ts"
import type { Member } from "./manager-options.ts"
import { OutputAgent } from "./output-agent.ts"
import type { Participant } from "./participant.ts"
import { pauseAll, resumeAll } from "./pause-all.ts"
import type { SpeakerPolicy } from "./speaker-policy.ts"
import type { ReadTeamOptions } from "./team-options.ts"
import { Suspension } from "./suspension.ts"
import { TeamHost } from "./team-host.ts"
import { type RunEnd, TeamRun } from "./team-run.ts"
import { readSuspended, saveSuspension } from "./suspension-state.ts"
import { type TeamState, invalid, readTeamState } from "./team-state.ts"
import type { Team } from "./team.ts"
import { TurnGate } from "./turn-gate.ts"

// Turns that nobody paused in their middle have their own time to end.
const MOMENT_MS = 100
// The longest time of a send.
const NO_DEADLINE_MS = 2 ** 31 - 1

/** The base of teams: participants as agents of a runtime, a manager who gives them the word, and a stream of it all. */
export abstract class BaseGroupChat implements Team, Component {
  readonly name: string
  readonly description: string
  protected readonly participants: readonly Participant[]
  protected readonly options: ReadTeamOptions
  readonly #policy: SpeakerPolicy
  readonly #factory: MessageFactory
  readonly #wire: WireItems
  readonly #thread: ChatThread
  readonly #gate = new TurnGate()
  readonly #suspension = new Suspension()
  readonly #manager: GroupChatManager
  readonly #managerId: AgentId
  readonly #host: TeamHost
  /** What goes on that nothing else may go on with. */
  #busyWith: string | undefined
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
    const wire = new WireItems(options.customMessageTypes)
    this.#wire = wire
    this.#thread = new ChatThread(participants.map(({ name }) => name))
    const key = randomUUID()
    const idOf = (role: string): AgentId => agentId(`${role}_${key}`, key)
    const output = idOf("output")
    // A run ends when its reader, its condition or its turns' own deadline say so, not when a runtime's usual time is up.
    const timeoutMs = options.runtime && NO_DEADLINE_MS
    const way = { output, wire, timeoutMs }
    const members = participants.map((participant): Member => ({
      name: participant.name,
      description: participant.description,
      id: idOf(`participant.${participant.name}`),
      container: new ChatAgentContainer(participant, way),
    }))
    this.#managerId = idOf("manager")
    this.#manager = new GroupChatManager({
      team: this.name,
      members,
      ...way,
      policy,
      thread: this.#thread,
      gate: this.#gate,
      suspension: this.#suspension,
      condition: options.terminationCondition,
      maxTurns: options.maxTurns,
      turnTimeoutMs: options.turnTimeout,
      emitTeamEvents: options.emitTeamEvents,
    })
    this.#host = new TeamHost(options.runtime, [
      ...members.map(({ id, container }) => [id, container] as const),
      [output, new OutputAgent(wire, (item) => this.#run?.take(item))],
      [this.#managerId, this.#manager],
    ])
  }

  abstract toComponent(): ComponentModel

  async run(task?: Task, options: RunOptions = {}): Promise<TaskResult> {
    const { run, work, end } = this.#beginRun(task, options)
    try {
      return await run.whole(work)
    } finally {
      end()
    }
  }

  async *runStream(task?: Task, options: RunOptions = {}): RunStream {
    const { run, work, end } = this.#beginRun(task, options)
    try {
      return yield* run.follow(work)
    } finally {
      end()
    }
  }

  #beginRun(
    task: Task | undefined,
    { signal, outputTaskMessages = true }: RunOptions,
  ): { readonly run: TeamRun; readonly work: () => Promise<RunEnd>; readonly end: () => void } {
    const messages = readTask(task)
    signal?.throwIfAborted()
    const end = this.#begin("run")
    const run = new TeamRun(this.#gate, messages, signal)
    this.#run = run
    return {
      run,
      work: async () => this.#work(run, messages, outputTaskMessages),
      end: () => {
        this.#run = undefined
        end()
      },
    }
  }

  async #work(
    { signal }: TeamRun,
    messages: readonly ChatMessage[],
    outputTaskMessages: boolean,
  ): Promise<RunEnd> {
    const runtime = await this.#host.enter()
    const lost = new AbortController()
    this.#manager.runSignals = [signal, lost.signal]
    try {
      const start = GroupChatStart({ messages: this.#wire.leave(messages), outputTaskMessages })
      const { stopReason, stopKind, untold, pending } = await runtime.send(start, this.#managerId, {
        signal,
        expect: GroupChatTermination,
        timeoutMs: this.options.runtime && NO_DEADLINE_MS,
      })
      return { stopReason, stopKind, usage: untold, ...(pending.length > 0 && { pending }) }
    } catch (error) {
      // The way to the manager may be lost, and the manager not know of it.
      lost.abort(error)
      throw error
    } finally {
      await this.#manager.whenOver()
    }
  }

  async reset(): Promise<void> {
    await this.#alone("reset", async () => {
      await this.#host.enter()
      this.#manager.turns = 0
      await this.#policy.reset()
      await this.options.terminationCondition?.reset()
      await this.#manager.startOver(new AbortController().signal)
    })
  }

  async pause(): Promise<void> {
    this.#resume ??= this.#gate.hold()
    await pauseAll(this.participants)
  }

  async resume(): Promise<void> {
    try {
      await resumeAll(this.participants)
    } finally {
      this.#resume?.()
      this.#resume = undefined
    }
  }

  async saveState(): Promise<JsonObject> {
    const saved = this.#gate.checkpoint(async () => this.#save())
    if (!this.#isPaused) return saved
    await atMost(saved, MOMENT_MS)
    // A turn that is paused in its middle, as a team's may be, goes on to its end: it is waited for.
    const { speaking } = this.#manager
    const paused = this.participants.filter(({ name }) => speaking.has(name))
    await resumeAll(paused)
    try {
      return await saved
    } finally {
      if (this.#isPaused) await pauseAll(paused)
    }
  }

  async loadState(state: JsonObject): Promise<void> {
    await this.#alone("loadState", async () => {
      const names = this.participants.map(({ name }) => name)
      const read = readTeamState(this.constructor.name, names, state)
      const before = readTeamState(this.constructor.name, names, await this.#save())
      try {
        await this.#load(read)
      } catch (error) {
        const failure = `The state of ${this.name} cannot be restored: ${errorMessage(error)}`
        await this.#load(before).catch((other: unknown) => {
          throw invalid(`${failure}; nor can the one that it had: ${errorMessage(other)}`, error)
        })
        throw invalid(failure, error)
      }
    })
  }

  async #save(): Promise<JsonObject> {
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
      ...saveSuspension(this.#suspension),
      turns: this.#manager.turns,
      policy: await this.#policy.saveState(),
      condition: this.options.terminationCondition?.saveState() ?? null,
    })
  }

  async #load(state: TeamState): Promise<void> {
    const { terminationCondition } = this.options
    const items = state.thread.map((item) => this.#factory.create(item))
    const said = state.said.map(({ message: data, by }) => {
      const message = this.#factory.create(data)
      if (isChatMessage(message)) return { message, by }
      throw invalid(`What was said in it has a ${message.type}, which nobody says.`)
    })
    const suspended = readSuspended(state.suspended, this.#factory)
    for (const participant of this.participants) {
      await participant.loadState(state.participants[participant.name] ?? {})
    }
    await this.#policy.loadState(state.policy)
    if (state.condition && terminationCondition) terminationCondition.loadState(state.condition)
    else await terminationCondition?.reset()
    this.#thread.load(items, said, state)
    this.#suspension.load(suspended, state.unseen)
    this.#manager.turns = state.turns
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#run?.leave(new GloveboxError("RUN_LEFT", `${this.name} was closed.`))
    await this.#host.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  get #isPaused(): boolean {
    return this.#resume !== undefined
  }

  /** Does what no run and no checkpoint may see half done. */
  async #alone(what: string, task: () => Promise<void>): Promise<void> {
    const end = this.#begin(what)
    try {
      await this.#gate.enter()
      await task()
    } finally {
      this.#gate.leave()
      end()
    }
  }

  #begin(what: string): () => void {
    if (this.#isClosed) {
      throw new GloveboxError("RUN_ACTIVE", `${this.name} is closed and cannot ${what}. Make another team.`)
    }
    if (this.#busyWith !== undefined) {
      throw new GloveboxError(
        "RUN_ACTIVE",
        `${this.name} is at work already (${this.#busyWith}). Wait for that before ${what}.`,
      )
    }
    this.#busyWith = what
    return () => {
      this.#busyWith = undefined
    }
  }
}

// Messages are frozen, and whoever gets the state may change it.
function plain(state: object): JsonObject {
  return JSON.parse(JSON.stringify(state)) as JsonObject
}
