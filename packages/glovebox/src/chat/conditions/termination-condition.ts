import { z } from "zod"
import {
  type Component,
  type ComponentDefinition,
  type ComponentModel,
  GloveboxError,
  type JsonObject,
  defineComponent,
} from "../../core/index.ts"
import { describe } from "../../internal/describe.ts"
import type { RequestUsage } from "../../models/index.ts"
import { type ChatItem, type ChatMessage, StopMessage, isChatMessage } from "../messages/index.ts"
import { readConditionState } from "./read-condition-state.ts"

/** What came since the condition was asked last; each message and event is in exactly one of them. */
export interface Delta {
  readonly messages: readonly ChatItem[]
  /** What of them was said to the team, and not inside of an agent. @default the messages among them */
  readonly said?: readonly ChatMessage[] | undefined
  /** What model calls used meanwhile, also those that no message tells of. @default what the messages say */
  readonly usage?: RequestUsage | undefined
  /** Whether they are the task itself. */
  readonly isTask: boolean
}

/** What was said to the team. */
export function saidIn({ messages, said }: Delta): readonly ChatMessage[] {
  return said ?? messages.filter(isChatMessage)
}

const stateSchema = z.strictObject({
  terminated: z.string().nullable(),
  counted: z.record(z.string(), z.json()),
})

/** Says when a team is to stop. It counts from the beginning of a run. */
export abstract class TerminationCondition implements Component {
  #stop: StopMessage | undefined
  // Fired between two checks: the next one tells of it, whether or not the run was interrupted in time.
  #isUntold = false
  #runs = 0
  #isWatched = false

  /** Whether it has fired since the last reset. */
  get terminated(): boolean {
    return this.#stop !== undefined
  }

  /** Why it has fired. */
  get stopMessage(): StopMessage | undefined {
    return this.#stop
  }

  /** Looks at what is new; once it has fired, it has to be reset before it is asked again. */
  async check(delta: Delta): Promise<StopMessage | undefined> {
    if (this.#stop && !this.#isUntold) {
      throw new GloveboxError(
        "CONDITION_TERMINATED",
        `${this.constructor.name} has fired already: ${this.#stop.content} Call reset() first.`,
      )
    }
    const run = this.#runs
    const reason = this.#stop ? undefined : await this.decide(delta)
    // Reset meanwhile: what was seen belongs to a run that is over.
    if (run !== this.#runs) return undefined
    this.#isUntold = false
    if (reason !== undefined) this.#stop ??= this.#message(reason)
    return this.#stop
  }

  /**
   * Takes part in a run until the result is called; `interrupt` ends the run in the middle of a turn.
   * @throws RUN_ACTIVE while it takes part in another one: it would count both, and forget both with the first to end
   */
  watch(interrupt: (stop: StopMessage) => void): () => void {
    if (this.#isWatched) {
      throw new GloveboxError(
        "RUN_ACTIVE",
        `This ${this.constructor.name} is at work in another run. Make one for each team.`,
      )
    }
    const unwatch = this.observe(interrupt)
    this.#isWatched = true
    return () => {
      unwatch()
      this.#isWatched = false
    }
  }

  async reset(): Promise<void> {
    this.#runs += 1
    this.#stop = undefined
    this.#isUntold = false
    await this.forget()
  }

  /** What it has counted so far. */
  saveState(): JsonObject {
    return { terminated: this.#stop?.content ?? null, counted: this.save() }
  }

  loadState(state: JsonObject): void {
    const { terminated, counted } = readConditionState(this, stateSchema, state)
    this.load(counted)
    this.#runs += 1
    this.#isUntold = false
    this.#stop = terminated === null ? undefined : this.#message(terminated)
  }

  /** Both must have fired, in whatever order. */
  and(other: TerminationCondition): TerminationCondition {
    return new AndTerminationCondition(this, other)
  }

  /** Either is enough. */
  or(other: TerminationCondition): TerminationCondition {
    return new OrTerminationCondition(this, other)
  }

  abstract toComponent(): ComponentModel

  /** Why to stop, or undefined to go on. */
  protected abstract decide(delta: Delta): string | undefined | Promise<string | undefined>

  /** Begins to watch what no message tells, such as time, until the result is called. */
  protected observe(_interrupt: (stop: StopMessage) => void): () => void {
    return () => {}
  }

  /** Forgets what was counted. */
  protected forget(): void | Promise<void> {}

  protected save(): JsonObject {
    return {}
  }

  protected load(state: JsonObject): void {
    readConditionState(this, z.strictObject({}), state)
  }

  /** For what `observe` saw: marks it as fired, and interrupts the run. */
  protected fire(reason: string, interrupt: (stop: StopMessage) => void): void {
    if (this.#stop) return
    this.#stop = this.#message(reason)
    this.#isUntold = true
    interrupt(this.#stop)
  }

  #message(reason: string): StopMessage {
    return StopMessage({ content: reason, source: this.constructor.name })
  }
}

abstract class CombinedTermination extends TerminationCondition {
  readonly conditions: readonly TerminationCondition[]

  constructor(conditions: readonly TerminationCondition[]) {
    super()
    for (const condition of conditions) {
      if (!(condition instanceof TerminationCondition)) {
        throw invalid(`${describe(condition)} is no termination condition.`)
      }
    }
    // (a and b) and c is one combination of three.
    this.conditions = conditions.flatMap((condition) =>
      condition instanceof CombinedTermination && condition.constructor === new.target
        ? condition.conditions
        : [condition],
    )
    const all = this.conditions.flatMap(simpleConditions)
    const twice = all.find((condition, index) => all.indexOf(condition) !== index)
    if (twice) {
      throw invalid(
        `One ${twice.constructor.name} is here twice, and would count every message twice. Make a second one.`,
      )
    }
    if (all.length === 0) throw invalid(`${new.target.name} needs at least one condition.`)
  }

  protected override observe(interrupt: (stop: StopMessage) => void): () => void {
    const watched: (() => void)[] = []
    const unwatch = (): void => {
      for (const stop of watched) stop()
    }
    const look = (): void => {
      const reason = this.verdict()
      if (reason !== undefined) this.fire(reason, interrupt)
    }
    try {
      for (const condition of this.conditions) watched.push(condition.watch(look))
    } catch (error) {
      unwatch()
      throw error
    }
    return unwatch
  }

  /** Why to stop, given which of the conditions have fired. */
  protected abstract verdict(): string | undefined

  protected reasons(): string[] {
    return this.conditions.flatMap(({ stopMessage }) => (stopMessage ? [stopMessage.content] : []))
  }

  protected override async decide(delta: Delta): Promise<string | undefined> {
    for (const condition of this.conditions) if (!condition.terminated) await condition.check(delta)
    return this.verdict()
  }

  protected override async forget(): Promise<void> {
    for (const condition of this.conditions) await condition.reset()
  }

  protected override save(): JsonObject {
    return { conditions: this.conditions.map((condition) => condition.saveState()) }
  }

  protected override load(state: JsonObject): void {
    const schema = z.strictObject({ conditions: z.array(stateSchema).length(this.conditions.length) })
    const { conditions } = readConditionState(this, schema, state)
    const before = this.conditions.map((condition) => condition.saveState())
    try {
      for (const [index, saved] of conditions.entries()) this.conditions[index]?.loadState(saved)
    } catch (error) {
      // All of them, or none.
      for (const [index, saved] of before.entries()) this.conditions[index]?.loadState(saved)
      throw error
    }
  }
}

const combinedConfig = z.object({ conditions: z.array(z.unknown()) })
type CombinedConfig = z.input<typeof combinedConfig>

/** Fires when all have fired, each remembered until the last one does. */
export class AndTerminationCondition extends CombinedTermination {
  static readonly definition: ComponentDefinition<CombinedConfig, AndTerminationCondition> = defineComponent({
    provider: "glovebox.conditions.AndTerminationCondition",
    aliases: ["autogen_agentchat.base.AndTerminationCondition"],
    type: "termination",
    config: combinedConfig,
    create: ({ conditions }, loader) =>
      new AndTerminationCondition(...conditions.map((model) => loader.load(model, TerminationCondition))),
  })

  constructor(...conditions: readonly TerminationCondition[]) {
    super(conditions)
  }

  toComponent(): ComponentModel {
    return AndTerminationCondition.definition.dump({
      conditions: this.conditions.map((condition) => condition.toComponent()),
    })
  }

  protected override verdict(): string | undefined {
    const reasons = this.reasons()
    return reasons.length === this.conditions.length ? reasons.join(" ") : undefined
  }
}

/** Fires when one has fired; its reason is that of all that fired together. */
export class OrTerminationCondition extends CombinedTermination {
  static readonly definition: ComponentDefinition<CombinedConfig, OrTerminationCondition> = defineComponent({
    provider: "glovebox.conditions.OrTerminationCondition",
    aliases: ["autogen_agentchat.base.OrTerminationCondition"],
    type: "termination",
    config: combinedConfig,
    create: ({ conditions }, loader) =>
      new OrTerminationCondition(...conditions.map((model) => loader.load(model, TerminationCondition))),
  })

  constructor(...conditions: readonly TerminationCondition[]) {
    super(conditions)
  }

  toComponent(): ComponentModel {
    return OrTerminationCondition.definition.dump({
      conditions: this.conditions.map((condition) => condition.toComponent()),
    })
  }

  protected override verdict(): string | undefined {
    const reasons = this.reasons()
    return reasons.length === 0 ? undefined : reasons.join(" ")
  }
}

function simpleConditions(condition: TerminationCondition): readonly TerminationCondition[] {
  return condition instanceof CombinedTermination
    ? condition.conditions.flatMap(simpleConditions)
    : [condition]
}

function invalid(message: string): GloveboxError {
  return new GloveboxError("OPTION_INVALID", message)
}
