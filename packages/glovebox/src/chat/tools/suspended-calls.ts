import { z } from "zod"
import { GloveboxError, type JsonObject, type JsonValue } from "../../core/index.ts"
import { formatIssues } from "../../internal/format-issues.ts"

/** A call of the tool; the same call comes again to go on. */
export interface TaskCall {
  readonly task: string
  readonly callId?: string | undefined
}

/** What somebody said, as the caller's model is told it. */
export interface SaidText {
  readonly source: string
  readonly text: string
}

export interface SuspendedCall extends TaskCall {
  /** The task that the caller gave, where somebody changed it before it began. */
  readonly given?: string | undefined
  readonly said: readonly SaidText[]
  /** The ids of the requests that it waits for. */
  readonly pending: readonly string[]
  /** Of the agent or team behind it; of one that keeps its state itself, as it was before the call. */
  readonly state?: JsonObject | undefined
}

const jsonObject = z.custom<JsonObject>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
)
const stateSchema = z.strictObject({
  type: z.literal("TaskRunnerToolState"),
  version: z.literal(1),
  suspended: z.array(
    z.strictObject({
      task: z.string(),
      callId: z.string().optional(),
      given: z.string().optional(),
      said: z.array(z.strictObject({ source: z.string(), text: z.string() })),
      pending: z.array(z.string()),
      state: jsonObject.optional(),
    }),
  ),
  /** Of an agent or team that is kept between calls. */
  runner: jsonObject.optional(),
})

/** The calls of a tool in which the agent or team behind it waits for approvals. */
export class SuspendedCalls {
  #calls: readonly SuspendedCall[] = []
  /** Of an agent or team that is kept: what it goes back to, because a call that it waits in will not come again. */
  goBackTo: JsonObject | undefined

  /** Those that are not this one. */
  others(call: TaskCall): readonly SuspendedCall[] {
    return this.#calls.filter((other) => !isSame(other, call))
  }

  find(call: TaskCall): SuspendedCall | undefined {
    return this.#calls.find((other) => isSame(other, call))
  }

  /** The one that a caller goes on with, who knows it as it was given. */
  findGiven(given: TaskCall): SuspendedCall | undefined {
    return this.#calls.find((call) => isSame({ ...call, task: call.given ?? call.task }, given))
  }

  keep(call: SuspendedCall): void {
    this.#calls = [...this.others(call), { ...call, given: call.given ?? this.find(call)?.given }]
  }

  /** The caller knows it by another task. */
  nameAsGiven(call: TaskCall, given: string): void {
    const known = this.find(call)
    if (known) this.keep({ ...known, given })
  }

  forget(call: TaskCall): void {
    this.#calls = this.others(call)
  }

  /** It will not come again. */
  drop(callId: string, isKept: boolean): void {
    const dropped = this.#calls.filter((call) => call.callId === callId)
    this.#calls = this.#calls.filter((call) => !dropped.includes(call))
    if (isKept) this.goBackTo ??= dropped[0]?.state
  }

  /** Undefined where nothing waits. */
  save(runner: JsonObject | undefined): JsonValue | undefined {
    if (this.#calls.length === 0) return undefined
    const suspended = this.#calls
    const state = { type: "TaskRunnerToolState", version: 1, suspended, runner }
    return JSON.parse(JSON.stringify(state)) as JsonValue
  }

  /**
   * Gives the state of the runner that was saved with them.
   * @throws STATE_INVALID
   */
  load(name: string, state: JsonValue): JsonObject | undefined {
    const { data, error } = stateSchema.safeParse(state)
    if (error) {
      throw new GloveboxError("STATE_INVALID", `This is no state of ${name}: ${formatIssues(error.issues)}`)
    }
    this.#calls = data.suspended
    this.goBackTo = undefined
    return data.runner
  }

  clear(): void {
    this.#calls = []
    this.goBackTo = undefined
  }
}

/** Whether a state tells of calls that wait, and is not that of a runner alone. */
export function tellsOfCalls(state: JsonValue): boolean {
  return (
    typeof state === "object" && state !== null && "type" in state && state["type"] === "TaskRunnerToolState"
  )
}

function isSame(one: TaskCall, other: TaskCall): boolean {
  return one.task === other.task && one.callId === other.callId
}
