import { GloveboxError, type Message, RoutedAgent } from "../../core/index.ts"
import { abortable } from "../../internal/abortable.ts"
import { errorMessage } from "../../internal/error-message.ts"
import { watchAbort } from "../../internal/watch-abort.ts"
import type { RequestUsage } from "../../models/index.ts"
import {
  type ChatItem,
  type ChatMessage,
  SelectSpeakerEvent,
  type StopMessage,
  isChatMessage,
} from "../messages/index.ts"
import { NO_USAGE, type StopKind, addUsage, sumUsage, usageSince } from "../task/index.ts"
import {
  GroupChatAgentResponse,
  GroupChatMessage,
  GroupChatRequestPublish,
  GroupChatReset,
  GroupChatStart,
  GroupChatTermination,
} from "./group-chat-messages.ts"
import type { ManagerOptions, Member } from "./manager-options.ts"
import { type ManagerRun, type Turn, newRun } from "./manager-run.ts"
import { tellAll } from "./tell-all.ts"
import { turnDeadline } from "./turn-deadline.ts"

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
  /** What ends the run that is asked for, with its own reason: of one that came over a wire only the text is left. */
  runSignals: readonly AbortSignal[] = []

  constructor(options: ManagerOptions) {
    super(`Leads ${options.team}.`)
    this.#options = options
    this.#members = new Map(options.members.map((member) => [member.name, member]))
    this.on(GroupChatStart, async ({ messages, outputTaskMessages }, { signal }) => {
      const task = options.wire.messages(messages)
      const run = this.#run(task, outputTaskMessages, [...this.runSignals, signal])
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
    outer: readonly AbortSignal[],
  ): Promise<Message> {
    const { condition, policy, gate, thread, suspension } = this.#options
    const over = new AbortController()
    const signal = AbortSignal.any([...outer, over.signal])
    await gate.enter(signal)
    // While it is watched, further watchers cost little.
    const unkeep = watchAbort(signal, () => {})
    const run = newRun({
      ...this.#options,
      signal,
      waiting: () => suspension.speakers,
      turns: () => this.turns,
      tell: async (item) => this.#tell(item, signal),
      startOver: async () => this.startOver(signal),
      unseen: suspension.unseen,
    })
    suspension.unseen = NO_USAGE
    this.#current = run
    let isSuspended = false
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
      isSuspended = stop.kind === "suspended"
      if (isSuspended) {
        // The run is not at its end: its turns and what its condition counted stay.
        suspension.unseen = usageSince(run.known, run.usage)
        return termination(stop, run.untold, suspension.pending)
      }
      // What is still being said belongs to no result; it is said again when the run goes on.
      if (run.speaking.size > 0) policy.interrupted?.([...run.speaking.keys()])
      thread.answered()
      this.turns = 0
      return termination(stop, run.untold, suspension.pending)
    } catch (error) {
      policy.interrupted?.([...run.speaking.keys()])
      this.turns = 0
      if (interrupt === undefined || outer.some(({ aborted }) => aborted)) throw error
      thread.answered()
      const stop = { kind: "condition", reason: interrupt.content } as const
      return termination(stop, run.untold, suspension.pending)
    } finally {
      over.abort(new GloveboxError("RUN_LEFT", "The run is over."))
      await Promise.allSettled(run.speaking.values())
      await Promise.all(
        [...run.speaking.keys()].map(async (name) => this.#members.get(name)?.container.settle()),
      )
      try {
        // Not one that another run watches.
        if (unwatch && !isSuspended) await condition?.reset()
      } finally {
        const counted = isSuspended ? condition?.saveState() : undefined
        unwatch?.()
        // No time passes while nobody runs.
        if (counted) condition?.loadState(counted)
        unkeep()
        this.#current = undefined
        gate.leave()
      }
    }
  }

  async #converse(run: ManagerRun, task: readonly ChatMessage[], outputTaskMessages: boolean): Promise<Stop> {
    const { policy, thread, suspension } = this.#options
    const isResumed = suspension.speakers.length > 0
    const news = isResumed ? thread.unasked(task) : task
    if (!isResumed || news.length > 0) await waitFor(policy.begin?.(news, run.floor), run.signal)
    thread.ask(news)
    if (outputTaskMessages) for (const message of news) await this.#tell(message, run.signal)
    let stop = news.length === 0 ? undefined : await this.#check(run, news, news, true)
    if (isResumed && !stop) stop = await this.#resume(run)
    while (!stop) stop = await this.#step(run)
    return stop
  }

  /** Gives the word to those again who waited for approvals, and to nobody else; they had it already. */
  async #resume(run: ManagerRun): Promise<Stop | undefined> {
    const { gate, suspension } = this.#options
    if (gate.isHeld) await gate.pass(run.signal)
    // Turns of a run that was suspended are counted; after one that was aborted they are turns of this one.
    this.turns = Math.max(this.turns, suspension.speakers.length)
    for (const speaker of suspension.speakers) this.#begin(run, speaker)
    return this.#hear(run)
  }

  /** Gives the word to whoever is next, and hears one turn to its end. */
  async #step(run: ManagerRun): Promise<Stop | undefined> {
    const { gate, maxTurns, suspension } = this.#options
    run.signal.throwIfAborted()
    // Who speaks beside somebody who waits speaks to the end, so that nothing has to be done twice.
    if (suspension.speakers.some((speaker) => !run.speaking.has(speaker))) {
      return run.speaking.size > 0 ? this.#hear(run) : { kind: "suspended", reason: suspension.reason }
    }
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
    for (const speaker of speakers) this.#begin(run, speaker)
    return undefined
  }

  #begin(run: ManagerRun, speaker: string): void {
    const turn = this.#speak(speaker, run.signal)
    // Not a race of all who speak: each would remember every race that was lost to others.
    const end = (): unknown => run.ended.push(turn)
    turn.then(end, end)
    run.speaking.set(speaker, turn)
  }

  async #hear(run: ManagerRun): Promise<Stop | undefined> {
    const { policy, thread, suspension } = this.#options
    if (run.speaking.size === 0) return undefined
    const next = await run.nextEnded.next()
    if (next.done === true) return undefined
    const turn = await next.value
    const { speaker, end, untold, pending } = turn
    run.speaking.delete(speaker)
    run.usage = addUsage(run.usage, addUsage(sumUsage(turn.items), untold))
    run.untold = addUsage(run.untold, untold)
    if (pending) {
      thread.hold(speaker, end)
      suspension.keep({ ...turn, pending })
      return undefined
    }
    const { items, said } = suspension.end(turn)
    thread.heard(speaker, end)
    thread.add(items, said, speaker)
    await waitFor(policy.finished?.(speaker, said), run.signal)
    return this.#check(run, items, said, false)
  }

  async #speak(speaker: string, signal: AbortSignal): Promise<Turn> {
    const { turnTimeoutMs, timeoutMs, thread, suspension, wire } = this.#options
    const { messages, end, isRetry } = thread.newsFor(speaker)
    const member = this.#members.get(speaker)
    if (!member) throw new GloveboxError("SPEAKER_INVALID", `${speaker} is not in the team.`)
    const deadline = turnTimeoutMs === undefined ? undefined : turnDeadline(speaker, turnTimeoutMs)
    const turnSignal = deadline ? AbortSignal.any([signal, deadline.signal]) : signal
    member.container.turnSignal = turnSignal
    try {
      const request = GroupChatRequestPublish({ messages, isRetry, told: suspension.told(speaker) })
      const turn = await this.send(request, member.id, {
        signal: turnSignal,
        expect: GroupChatAgentResponse,
        timeoutMs,
      })
      const { untold, pending } = turn
      return { speaker, end, items: wire.items(turn.items), said: wire.messages(turn.said), untold, pending }
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
    const { output, wire, timeoutMs } = this.#options
    wire.leave([message])
    await this.send(GroupChatMessage({ message }), output, { signal, timeoutMs })
  }

  /** Everybody forgets the conversation. */
  async startOver(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    this.#options.thread.clear()
    this.#options.suspension.clear()
    await tellAll([...this.#members.values()], async ({ id }) =>
      this.send(GroupChatReset({}), id, { signal }),
    )
  }
}

/** What a policy or a condition gives; one that does not look at the signal holds nobody up. */
function waitFor<T>(work: T | Promise<T>, signal: AbortSignal): T | Promise<T> {
  return work instanceof Promise ? abortable(work, signal) : work
}

function termination({ kind, reason }: Stop, untold: RequestUsage, pending: readonly string[]): Message {
  return GroupChatTermination({ stopKind: kind, stopReason: reason, untold, pending })
}
