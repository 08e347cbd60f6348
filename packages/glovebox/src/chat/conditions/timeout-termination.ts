import { z } from "zod"
import {
  type ComponentDefinition,
  type ComponentModel,
  type JsonObject,
  defineComponent,
} from "../../core/index.ts"
import { readOptions } from "../../core/read-options.ts"
import { duration } from "../../policy/amount-schema.ts"
import { formatDuration } from "../../policy/index.ts"
import type { StopMessage } from "../messages/index.ts"
import { readConditionState } from "./read-condition-state.ts"
import { TerminationCondition } from "./termination-condition.ts"

// Longer than a timer can be, it would fire at once.
const LONGEST_MS = 2 ** 31 - 1
const optionsSchema = z.strictObject({ timeout: duration(1, LONGEST_MS) })
const configSchema = z.object({ timeout_seconds: z.number().positive() })
const stateSchema = z.strictObject({ elapsedMs: z.number().nonnegative() })

/** Fires when a run has taken that long, also in the middle of a turn. */
export class TimeoutTermination extends TerminationCondition {
  static readonly definition: ComponentDefinition<z.input<typeof configSchema>, TimeoutTermination> =
    defineComponent({
      provider: "glovebox.conditions.TimeoutTermination",
      aliases: ["autogen_agentchat.conditions.TimeoutTermination"],
      type: "termination",
      config: configSchema,
      create: ({ timeout_seconds: seconds }) =>
        new TimeoutTermination(Math.max(1, Math.round(seconds * 1000))),
    })

  readonly #timeoutMs: number
  #since = performance.now()
  // What a run had taken when its state was saved.
  #before = 0
  /** Of the run that is under way. */
  #interrupt: ((stop: StopMessage) => void) | undefined
  #timer: NodeJS.Timeout | undefined

  /** A time such as "30s", or milliseconds. */
  constructor(timeout: string | number) {
    super()
    this.#timeoutMs = readOptions("TimeoutTermination", optionsSchema, { timeout }).timeout
  }

  toComponent(): ComponentModel {
    return TimeoutTermination.definition.dump({ timeout_seconds: this.#timeoutMs / 1000 })
  }

  protected override decide(): string | undefined {
    return this.#before + performance.now() - this.#since >= this.#timeoutMs ? this.#reason() : undefined
  }

  protected override observe(interrupt: (stop: StopMessage) => void): () => void {
    this.#interrupt = interrupt
    // The time of a run, not since it was made.
    this.#begin(this.#before)
    return () => {
      this.#interrupt = undefined
      clearTimeout(this.#timer)
    }
  }

  protected override forget(): void {
    this.#begin(0)
  }

  protected override save(): JsonObject {
    // Between two runs no time passes that counts.
    return { elapsedMs: this.#before + (this.#interrupt ? performance.now() - this.#since : 0) }
  }

  protected override load(state: JsonObject): void {
    this.#begin(readConditionState(this, stateSchema, state).elapsedMs)
  }

  #begin(before: number): void {
    this.#since = performance.now()
    this.#before = before
    clearTimeout(this.#timer)
    const interrupt = this.#interrupt
    if (!interrupt) return
    const left = Math.max(0, this.#timeoutMs - before)
    this.#timer = setTimeout(() => this.fire(this.#reason(), interrupt), left)
  }

  #reason(): string {
    return `The run has taken ${formatDuration(this.#timeoutMs)}, and may not take longer.`
  }
}
