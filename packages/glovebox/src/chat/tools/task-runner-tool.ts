import { z } from "zod"
import {
  type Component,
  type ComponentModel,
  GloveboxError,
  type JsonObject,
  type JsonValue,
} from "../../core/index.ts"
import type { ToolSchema } from "../../models/index.ts"
import { type RunToolOptions, type Tool, type ToolResult, type ToolRisk, tool } from "../../tools/index.ts"
import { asGuarded } from "../../tools/call-guard.ts"
import { lastOf } from "../../tools/tool.ts"
import { runTask } from "./run-task.ts"
import { type Runner, type RunnerState, madeRunner, sharedRunner } from "./runner-source.ts"
import { streamCall } from "./stream-call.ts"
import { SuspendedCalls, tellsOfCalls } from "./suspended-calls.ts"

/** What tools of agents and of teams have in common. */
export interface TaskRunnerToolOptions {
  /** Whether the result is the last message alone; otherwise it is all of them, each with who said it. @default false */
  readonly returnValueAsLastMessage?: boolean | undefined
  /**
   * "fresh": each call begins with the state that the agent or team had when the tool was made. "kept": it remembers
   * the calls before. @default "fresh"
   */
  readonly state?: RunnerState | undefined
}

/** Fields for the schema of their options. */
export const taskRunnerToolShape = {
  returnValueAsLastMessage: z.boolean().default(false),
  state: z.enum(["fresh", "kept"]).default("fresh"),
}

/** Fields of their configuration. */
export const taskRunnerConfigShape = {
  return_value_as_last_message: z.boolean().default(false),
  state: z.enum(["fresh", "kept"]).default("fresh"),
}

interface Settings {
  readonly name: string
  readonly description: string
  /** The agent or team, or what makes one for each call. */
  readonly runner: Runner | (() => Runner | Promise<Runner>)
  readonly returnValueAsLastMessage: boolean
  readonly state: RunnerState
}

const parameters = z.object({
  task: z.string().describe("What is to be done, with all that has to be known for it."),
})

/** Lets a model give a task to an agent or a team, as it would call any tool. */
export abstract class TaskRunnerTool implements Tool, Component, AsyncDisposable {
  readonly name: string
  readonly schema: ToolSchema
  readonly risk: ToolRisk
  readonly #tool: Tool
  readonly #runner: Settings["runner"]
  /** The agent or team that remembers the calls before, if it does. */
  readonly #kept: Runner | undefined
  readonly #calls = new SuspendedCalls()

  constructor({ name, description, runner, returnValueAsLastMessage: isLastOnly, state }: Settings) {
    const isMade = typeof runner === "function"
    if (isMade && state === "kept") {
      throw new GloveboxError(
        "OPTION_INVALID",
        `${name} is to keep its state, and a function makes another for each call. Pass the agent or team itself.`,
      )
    }
    const source = isMade ? madeRunner(name, runner) : sharedRunner(runner, state)
    this.#tool = tool({
      name,
      description,
      parameters,
      strict: true,
      execute: ({ task }, { signal, callId }) =>
        runTask(source, { task, callId }, { signal, isLastOnly, calls: this.#calls }),
    })
    this.name = name
    this.schema = this.#tool.schema
    this.risk = this.#tool.risk
    this.#runner = runner
    this.#kept = isMade || state === "fresh" ? undefined : runner
  }

  abstract toComponent(): ComponentModel

  async needsApproval(args: unknown): Promise<boolean> {
    return this.#tool.needsApproval(args)
  }

  async run(args: unknown, options?: RunToolOptions): Promise<ToolResult> {
    return lastOf(this.stream(args, options))
  }

  readonly stream: Tool["stream"] = asGuarded((args: unknown, options: RunToolOptions = {}) =>
    streamCall(this.#tool, this.#calls, args, options),
  )

  forgetCall(callId: string): void {
    this.#calls.drop(callId, this.#kept !== undefined)
  }

  async saveState(): Promise<JsonValue | undefined> {
    const kept = this.#kept && (this.#calls.goBackTo ?? (await this.#kept.saveState()))
    return this.#calls.save(kept) ?? kept
  }

  async loadState(state: JsonValue): Promise<void> {
    if (!tellsOfCalls(state)) {
      if (!this.#kept) return this.#tool.loadState(state)
      // What is no state of it, it refuses itself.
      await this.#kept.loadState(state as JsonObject)
      return this.#calls.clear()
    }
    const calls = new SuspendedCalls()
    const kept = calls.load(this.name, state)
    if (kept && this.#kept) await this.#kept.loadState(kept)
    else if (kept || this.#kept) throw otherChoice(this.name)
    this.#calls.load(this.name, state)
  }

  /** Ends the agent or team behind it, for those who have nobody else to do it. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (typeof this.#runner !== "function") await this.#runner.close()
  }
}

/** Why such a tool cannot be written down. */
export function isFunction(option: string): GloveboxError {
  return new GloveboxError(
    "COMPONENT_INVALID",
    `${option} is a function, which cannot be written down. Pass the ${option} itself.`,
  )
}

function otherChoice(name: string): GloveboxError {
  return new GloveboxError(
    "STATE_INVALID",
    `The state is of a tool that has another \`state\` option than ${name}: "fresh" and "kept" do not fit.`,
  )
}
