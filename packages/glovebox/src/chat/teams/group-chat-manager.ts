import { type AgentId, GloveboxError, type Message, RoutedAgent } from "../../core/index.ts"
import { abortable } from "../../internal/abortable.ts"
import { errorMessage } from "../../internal/error-message.ts"
import type { RequestUsage } from "../../models/index.ts"
import type { TerminationCondition } from "../conditions/termination-condition.ts"
import {
  type AgentEvent,
  type ChatItem,
  type ChatMessage,
  SelectSpeakerEvent,
  type StopMessage,
  isChatMessage,
  isChunk,
} from "../messages/index.ts"
import { NO_USAGE, type StopKind, addUsage, usageSince } from "../task/index.ts"
import type { ChatThread } from "./chat-thread.ts"
import {
  GroupChatAgentResponse,
  GroupChatMessage,
  GroupChatRequestPublish,
  GroupChatReset,
  GroupChatStart,
  GroupChatTermination,
} from "./group-chat-messages.ts"
import type { Floor, SpeakerPolicy } from "./speaker-policy.ts"
import type { TurnGate } from "./turn-gate.ts"

export interface Member {
  readonly name: string
  readonly description: string
  readonly id: AgentId
}

export interface ManagerOptions {
  readonly team: string
  readonly members: readonly Member[]
  readonly output: AgentId
  readonly policy: SpeakerPolicy
  readonly thread: ChatThread
  readonly gate: TurnGate
  readonly condition: TerminationCondition | undefined
  readonly maxTurns: number | undefined
  readonly turnTimeoutMs: number | undefined
  readonly emitTeamEvents: boolean
}

interface Stop {
  readonly kind: StopKind
  readonly reason: string
}

interface Turn {
  readonly speaker: string
  readonly end: number
  readonly items: readonly ChatItem[]
  readonly said: readonly ChatMessage[]
  readonly usage: RequestUsage
}

/** What one run has under way; nothing of it outlives the run. */
interface Run {
  readonly floor: Floor
  readonly speaking: Map<string, Promise<Turn>>
  readonly signal: AbortSignal
  /** Said by the team itself, and not seen by the condition yet. */
  unchecked: ChatItem[]
  usage: RequestUsage
  /** What of that the condition knows of. */
  known: RequestUsage
}

/** Leads a conversation: gives the word, hears what is said, and ends it. */
export class GroupChatManager extends RoutedAgent {
  readonly #options: ManagerOptions
  readonly #members: ReadonlyMap<string, Member>
  /** Turns of the run that is under way, or that a loaded state was in the middle of. */
  turns = 0

  constructor(options: ManagerOptions) {
    super(`Leads ${options.team}.`)
    this.#options = options
    this.#members = new Map(options.members.map((member) => [member.name, member]))
    this.on(GroupChatStart, async ({ messages, outputTaskMessages }, { signal }) =>
      this.#run(messages, outputTaskMessages, signal),
    )
  }

  async #run(
    task: readonly ChatMessage[],
    outputTaskMessages: boolean,
    outer: AbortSignal,
  ): Promise<Message> {
    const { condition, policy, gate, thread } = this.#options
    const over = new AbortController()
    const signal = AbortSignal.any([outer, over.signal])
    const run = this.#newRun(signal)
    let interrupt: StopMessage | undefined
    const unwatch = condition?.watch((stop) => {
      interrupt = stop
      over.abort(new GloveboxError("RUN_LEFT", `The run was ended: ${stop.content}`))
    })
    gate.enter()
    try {
      // A state may have been saved just after it fired.
      if (condition?.terminated === true) await condition.reset()
      const stop = await this.#converse(run, task, outputTaskMessages)
      // What is still being said belongs to no result; it is said again when the run goes on.
      if (run.speaking.size > 0) policy.interrupted?.([...run.speaking.keys()])
      thread.answered()
      this.turns = 0
      return termination(stop, run.usage)
    } catch (error) {
      policy.interrupted?.([...run.speaking.keys()])
      this.turns = 0
      if (interrupt === undefined || outer.aborted) throw error
      thread.answered()
      return termination({ kind: "condition", reason: interrupt.content }, run.usage)
    } finally {
      unwatch?.()
      over.abort(new GloveboxError("RUN_LEFT", "The run is over."))
      await Promise.allSettled(run.speaking.values())
      gate.leave()
      await condition?.reset()
    }
  }

  async #converse(run: Run, task: readonly ChatMessage[], outputTaskMessages: boolean): Promise<Stop> {
    const { policy, thread } = this.#options
    await policy.begin?.(task, run.floor)
    thread.ask(task)
    if (outputTaskMessages) for (const message of task) await this.#tell(message, run.signal)
    let stop = task.length === 0 ? undefined : await this.#check(run, task, task, true)
    while (!stop) stop = await this.#step(run)
    return stop
  }

  /** Gives the word to whoever is next, and hears one turn to its end. */
  async #step(run: Run): Promise<Stop | undefined> {
    const { gate, maxTurns } = this.#options
    run.signal.throwIfAborted()
    if (run.speaking.size === 0) await gate.pass(run.signal)
    const mayBegin = !gate.isHeld && (maxTurns === undefined || this.turns < maxTurns)
    if (run.speaking.size === 0 && !mayBegin && maxTurns !== undefined && this.turns >= maxTurns) {
      return { kind: "max-turns", reason: `The team had its ${maxTurns} turns.` }
    }
    if (mayBegin) {
      const stop = await this.#select(run)
      if (stop) return stop
    }
    return this.#hear(run)
  }

  async #select(run: Run): Promise<Stop | undefined> {
    const { policy, team, maxTurns = Number.POSITIVE_INFINITY } = this.#options
    const next = await policy.next(run.floor)
    const heard = await this.#checkOwn(run)
    if (heard) return heard
    if ("stop" in next) return { kind: next.kind ?? "completed", reason: next.stop }
    // Whoever has no turn left for them is named again in the next run.
    const speakers = next.speakers.slice(0, maxTurns - this.turns)
    if (speakers.length === 0) {
      if (run.speaking.size > 0) return undefined
      return { kind: "completed", reason: "Nobody is left to speak." }
    }
    for (const speaker of speakers) {
      if (!this.#members.has(speaker) || run.speaking.has(speaker)) {
        throw new GloveboxError(
          "SPEAKER_INVALID",
          this.#members.has(speaker)
            ? `${speaker} was chosen to speak in ${team}, and speaks already.`
            : `${speaker} was chosen to speak and is not in ${team}. In it: ${[...this.#members.keys()].join(", ")}.`,
        )
      }
    }
    this.turns += speakers.length
    await run.floor.emit(SelectSpeakerEvent({ content: speakers, source: team }))
    const seen = await this.#checkOwn(run)
    if (seen) return seen
    for (const speaker of speakers) {
      const turn = this.#speak(speaker, run.signal)
      // Whoever fails first is heard first; the others may fail unheard.
      turn.catch(() => {})
      run.speaking.set(speaker, turn)
    }
    return undefined
  }

  async #hear(run: Run): Promise<Stop | undefined> {
    const { policy, thread } = this.#options
    if (run.speaking.size === 0) return undefined
    const { speaker, end, items, said, usage } = await Promise.race(run.speaking.values())
    run.speaking.delete(speaker)
    run.usage = addUsage(run.usage, usage)
    thread.heard(speaker, end)
    thread.add(items, said, speaker)
    await policy.finished?.(speaker, said)
    return this.#check(run, items, said, false)
  }

  async #speak(speaker: string, signal: AbortSignal): Promise<Turn> {
    const { turnTimeoutMs, thread } = this.#options
    const { messages, end } = thread.newsFor(speaker)
    const id = this.#members.get(speaker)?.id
    if (!id) throw new GloveboxError("SPEAKER_INVALID", `${speaker} is not in the team.`)
    const deadline = turnTimeoutMs === undefined ? undefined : turnDeadline(speaker, turnTimeoutMs)
    try {
      const { items, said, usage } = await this.send(GroupChatRequestPublish({ messages }), id, {
        signal: deadline ? AbortSignal.any([signal, deadline.signal]) : signal,
        expect: GroupChatAgentResponse,
      })
      return { speaker, end, items, said, usage }
    } catch (error) {
      if (signal.aborted || error === deadline?.signal.reason) throw error
      throw new GloveboxError("AGENT_FAILED", `${speaker} failed in its turn: ${errorMessage(error)}`, {
        cause: error,
      })
    } finally {
      deadline?.clear()
    }
  }

  async #check(
    run: Run,
    messages: readonly ChatItem[],
    said: readonly ChatMessage[],
    isTask: boolean,
  ): Promise<Stop | undefined> {
    const usage = usageSince(run.known, run.usage)
    run.known = run.usage
    const checked = this.#options.condition?.check({ messages, said, usage, isTask })
    const stop = checked && (await abortable(checked, run.signal))
    return stop && { kind: "condition", reason: stop.content }
  }

  async #checkOwn(run: Run): Promise<Stop | undefined> {
    if (run.unchecked.length === 0) return undefined
    const own = run.unchecked
    run.unchecked = []
    return this.#check(run, own, own.filter(isChatMessage), false)
  }

  async #tell(message: ChatItem, signal: AbortSignal): Promise<void> {
    await this.send(GroupChatMessage({ message }), this.#options.output, { signal })
  }

  #newRun(signal: AbortSignal): Run {
    const { thread, members, emitTeamEvents } = this.#options
    const speaking = new Map<string, Promise<Turn>>()
    const turns = (): number => this.turns
    const show = async (item: ChatItem): Promise<void> => {
      run.unchecked.push(item)
      await this.#tell(item, signal)
    }
    const floor: Floor = {
      participants: members,
      get thread() {
        return thread.items
      },
      get speaking() {
        return new Set(speaking.keys())
      },
      get turns() {
        return turns()
      },
      signal,
      emit: async (event: AgentEvent) => {
        run.usage = addUsage(run.usage, event.modelsUsage)
        if (!emitTeamEvents) return
        if (isChunk(event)) return this.#tell(event, signal)
        thread.add([event], [], null)
        await show(event)
      },
      say: async (message) => {
        run.usage = addUsage(run.usage, message.modelsUsage)
        thread.add([message], [message], null)
        await show(message)
      },
      addUsage: (usage) => {
        run.usage = addUsage(run.usage, usage)
      },
      startOver: async () => this.startOver(signal),
    }
    const run: Run = { floor, speaking, signal, unchecked: [], usage: NO_USAGE, known: NO_USAGE }
    return run
  }

  /** Everybody forgets the conversation. */
  async startOver(signal: AbortSignal): Promise<void> {
    this.#options.thread.clear()
    for (const { id } of this.#members.values()) await this.send(GroupChatReset({}), id, { signal })
  }
}

function termination({ kind, reason }: Stop, usage: RequestUsage): Message {
  return GroupChatTermination({ stopKind: kind, stopReason: reason, usage })
}

function turnDeadline(speaker: string, ms: number): { readonly signal: AbortSignal; clear(): void } {
  const controller = new AbortController()
  const timer = setTimeout(() => {
    controller.abort(new GloveboxError("TURN_TIMEOUT", `${speaker} did not end its turn within ${ms} ms.`))
  }, ms)
  return { signal: controller.signal, clear: () => clearTimeout(timer) }
}
