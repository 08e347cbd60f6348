import { type AgentId, GloveboxError, type Message, RoutedAgent } from "../../core/index.ts"
import { abortable } from "../../internal/abortable.ts"
import { errorMessage } from "../../internal/error-message.ts"
import { watchAbort } from "../../internal/watch-abort.ts"
import type { RequestUsage } from "../../models/index.ts"
import type { TerminationCondition } from "../conditions/termination-condition.ts"
import {
  type ChatItem,
  type ChatMessage,
  SelectSpeakerEvent,
  type StopMessage,
  isChatMessage,
} from "../messages/index.ts"
import { type StopKind, addUsage, sumUsage, usageSince } from "../task/index.ts"
import type { ChatAgentContainer } from "./chat-agent-container.ts"
import type { ChatThread } from "./chat-thread.ts"
import {
  GroupChatAgentResponse,
  GroupChatMessage,
  GroupChatRequestPublish,
  GroupChatReset,
  GroupChatStart,
  GroupChatTermination,
} from "./group-chat-messages.ts"
import { type ManagerRun, type Turn, newRun } from "./manager-run.ts"
import type { SpeakerPolicy } from "./speaker-policy.ts"
import { tellAll } from "./tell-all.ts"
import { turnDeadline } from "./turn-deadline.ts"
import type { TurnGate } from "./turn-gate.ts"

export interface Member {
  readonly name: string
  readonly description: string
  readonly id: AgentId
  readonly container: ChatAgentContainer
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

/** Leads a conversation: gives the word, hears what is said, and ends it. */
export class GroupChatManager extends RoutedAgent {
  readonly #options: ManagerOptions
  readonly #members: ReadonlyMap<string, Member>
  /** Turns of the run that is under way, or that a loaded state was in the middle of. */
  turns = 0
  #current: ManagerRun | undefined
  #over: Promise<unknown> = Promise.resolve()

  constructor(options: ManagerOptions) {
    super(`Leads ${options.team}.`)
    this.#options = options
    this.#members = new Map(options.members.map((member) => [member.name, member]))
    this.on(GroupChatStart, async ({ messages, outputTaskMessages }, { signal }) => {
      const run = this.#run(messages, outputTaskMessages, signal)
      this.#over = Promise.allSettled([run])
      return run
    })
  }

  /** Who has a turn now. */
  get speaking(): ReadonlySet<string> {
    return new Set(this.#current?.speaking.keys())
  }

  /** Resolves when nothing of the last run goes on: one that is cancelled is answered before that. */
  async whenOver(): Promise<void> {
    await this.#over
  }

  async #run(
    task: readonly ChatMessage[],
    outputTaskMessages: boolean,
    outer: AbortSignal,
  ): Promise<Message> {
    const { condition, policy, gate, thread } = this.#options
    await gate.enter(outer)
    const over = new AbortController()
    const signal = AbortSignal.any([outer, over.signal])
    // While it is watched, further watchers cost little.
    const unkeep = watchAbort(signal, () => {})
    const run = newRun({
      ...this.#options,
      signal,
      turns: () => this.turns,
      tell: async (item) => this.#tell(item, signal),
      startOver: async () => this.startOver(signal),
    })
    this.#current = run
    let interrupt: StopMessage | undefined
    let unwatch: (() => void) | undefined
    try {
      unwatch = condition?.watch((stop) => {
        interrupt = stop
        over.abort(new GloveboxError("RUN_LEFT", `The run was ended: ${stop.content}`))
      })
      // A state may have been saved just after it fired.
      if (condition?.terminated === true) await condition.reset()
      const stop = await this.#converse(run, task, outputTaskMessages)
      // What is still being said belongs to no result; it is said again when the run goes on.
      if (run.speaking.size > 0) policy.interrupted?.([...run.speaking.keys()])
      thread.answered()
      this.turns = 0
      return termination(stop, run.untold)
    } catch (error) {
      policy.interrupted?.([...run.speaking.keys()])
      this.turns = 0
      if (interrupt === undefined || outer.aborted) throw error
      thread.answered()
      return termination({ kind: "condition", reason: interrupt.content }, run.untold)
    } finally {
      over.abort(new GloveboxError("RUN_LEFT", "The run is over."))
      await Promise.allSettled(run.speaking.values())
      await Promise.all(
        [...run.speaking.keys()].map(async (name) => this.#members.get(name)?.container.settle()),
      )
      try {
        // Not one that another run watches.
        if (unwatch) await condition?.reset()
      } finally {
        unwatch?.()
        unkeep()
        this.#current = undefined
        gate.leave()
      }
    }
  }

  async #converse(run: ManagerRun, task: readonly ChatMessage[], outputTaskMessages: boolean): Promise<Stop> {
    const { policy, thread } = this.#options
    await waitFor(policy.begin?.(task, run.floor), run.signal)
    thread.ask(task)
    if (outputTaskMessages) for (const message of task) await this.#tell(message, run.signal)
    let stop = task.length === 0 ? undefined : await this.#check(run, task, task, true)
    while (!stop) stop = await this.#step(run)
    return stop
  }

  /** Gives the word to whoever is next, and hears one turn to its end. */
  async #step(run: ManagerRun): Promise<Stop | undefined> {
    const { gate, maxTurns } = this.#options
    run.signal.throwIfAborted()
    if (run.speaking.size === 0 && gate.isHeld) await gate.pass(run.signal)
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

  async #select(run: ManagerRun): Promise<Stop | undefined> {
    const { policy, team, emitTeamEvents, maxTurns = Number.POSITIVE_INFINITY } = this.#options
    const next = await waitFor(policy.next(run.floor), run.signal)
    const heard = run.unchecked.length > 0 ? await this.#checkOwn(run) : undefined
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
    if (emitTeamEvents) {
      await run.floor.emit(SelectSpeakerEvent({ content: speakers, source: team }))
      const seen = await this.#checkOwn(run)
      if (seen) return seen
    }
    for (const speaker of speakers) {
      const turn = this.#speak(speaker, run.signal)
      // Not a race of all who speak: each would remember every race that was lost to others.
      const end = (): unknown => run.ended.push(turn)
      turn.then(end, end)
      run.speaking.set(speaker, turn)
    }
    return undefined
  }

  async #hear(run: ManagerRun): Promise<Stop | undefined> {
    const { policy, thread } = this.#options
    if (run.speaking.size === 0) return undefined
    const next = await run.nextEnded.next()
    if (next.done === true) return undefined
    const { speaker, end, items, said, untold } = await next.value
    run.speaking.delete(speaker)
    run.usage = addUsage(run.usage, addUsage(sumUsage(items), untold))
    run.untold = addUsage(run.untold, untold)
    thread.heard(speaker, end)
    thread.add(items, said, speaker)
    await waitFor(policy.finished?.(speaker, said), run.signal)
    return this.#check(run, items, said, false)
  }

  async #speak(speaker: string, signal: AbortSignal): Promise<Turn> {
    const { turnTimeoutMs, thread } = this.#options
    const { messages, end, isRetry } = thread.newsFor(speaker)
    const member = this.#members.get(speaker)
    if (!member) throw new GloveboxError("SPEAKER_INVALID", `${speaker} is not in the team.`)
    const deadline = turnTimeoutMs === undefined ? undefined : turnDeadline(speaker, turnTimeoutMs)
    const turnSignal = deadline ? AbortSignal.any([signal, deadline.signal]) : signal
    member.container.turnSignal = turnSignal
    try {
      const request = GroupChatRequestPublish({ messages, isRetry })
      const { items, said, untold } = await this.send(request, member.id, {
        signal: turnSignal,
        expect: GroupChatAgentResponse,
      })
      return { speaker, end, items, said, untold }
    } catch (error) {
      if (signal.aborted || (deadline?.signal.aborted && error === deadline.signal.reason)) throw error
      throw new GloveboxError("AGENT_FAILED", `${speaker} failed in its turn: ${errorMessage(error)}`, {
        cause: error,
      })
    } finally {
      deadline?.clear()
    }
  }

  async #check(
    run: ManagerRun,
    messages: readonly ChatItem[],
    said: readonly ChatMessage[],
    isTask: boolean,
  ): Promise<Stop | undefined> {
    const usage = usageSince(run.known, run.usage)
    run.known = run.usage
    const stop = await waitFor(this.#options.condition?.check({ messages, said, usage, isTask }), run.signal)
    return stop && { kind: "condition", reason: stop.content }
  }

  async #checkOwn(run: ManagerRun): Promise<Stop | undefined> {
    const own = run.unchecked
    run.unchecked = []
    return this.#check(run, own, own.filter(isChatMessage), false)
  }

  async #tell(message: ChatItem, signal: AbortSignal): Promise<void> {
    await this.send(GroupChatMessage({ message }), this.#options.output, { signal })
  }

  /** Everybody forgets the conversation. */
  async startOver(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    this.#options.thread.clear()
    await tellAll([...this.#members.values()], async ({ id }) =>
      this.send(GroupChatReset({}), id, { signal }),
    )
  }
}

/** What a policy or a condition gives; one that does not look at the signal holds nobody up. */
function waitFor<T>(work: T | Promise<T>, signal: AbortSignal): T | Promise<T> {
  return work instanceof Promise ? abortable(work, signal) : work
}

function termination({ kind, reason }: Stop, untold: RequestUsage): Message {
  return GroupChatTermination({ stopKind: kind, stopReason: reason, untold })
}
