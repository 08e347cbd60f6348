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
  #isRunning = false

  /** A time such as "30s", or milliseconds. */
  constructor(timeout: string | number) {
    super()
    this.#timeoutMs = readOptions("TimeoutTermination", optionsSchema, { timeout }).timeout
  }

  override watch(interrupt: (stop: StopMessage) => void): () => void {
    // The time of a run, not since it was made.
    this.#since = performance.now()
    this.#isRunning = true
    const left = Math.max(0, this.#timeoutMs - this.#before)
    const timer = setTimeout(() => this.fire(this.#reason(), interrupt), left)
    return () => {
      this.#isRunning = false
      clearTimeout(timer)
    }
  }

  toComponent(): ComponentModel {
    return TimeoutTermination.definition.dump({ timeout_seconds: this.#timeoutMs / 1000 })
  }

  protected override decide(): string | undefined {
    return this.#before + performance.now() - this.#since >= this.#timeoutMs ? this.#reason() : undefined
  }

  protected override forget(): void {
    this.#since = performance.now()
    this.#before = 0
  }

  protected override save(): JsonObject {
    // Between two runs no time passes that counts.
    return { elapsedMs: this.#before + (this.#isRunning ? performance.now() - this.#since : 0) }
  }

  protected override load(state: JsonObject): void {
    this.#before = readConditionState(this, stateSchema, state).elapsedMs
    this.#since = performance.now()
  }

  #reason(): string {
    return `The run has taken ${formatDuration(this.#timeoutMs)}, and may not take longer.`
  }
}
