import { z } from "zod"
import { GloveboxError, type JsonObject } from "../../../core/index.ts"
import { formatIssues } from "../../../internal/format-issues.ts"
import { type ChatCompletionClient, type Image, imageSchema } from "../../../models/index.ts"
import {
  type ChatMessage,
  MultiModalMessage,
  SelectorEvent,
  TextMessage,
  formatTemplate,
  toModelMessage,
} from "../../messages/index.ts"
import type { Floor, NextSpeakers, SpeakerPolicy } from "../speaker-policy.ts"
import { LeadModel, ORCHESTRATOR, describeTeam } from "./lead-model.ts"
import { type Progress, ProgressLedger } from "./progress-ledger.ts"
import { FACTS, FINAL_ANSWER, LEDGER, NEW_FACTS, NEW_PLAN, PLAN, REQUEST } from "./prompts.ts"

export interface OrchestratorOptions {
  readonly modelClient: ChatCompletionClient
  readonly speakers: readonly string[]
  readonly maxTurns: number
  readonly maxStalls: number
  readonly finalAnswerPrompt: string | undefined
}

const stateSchema = z.strictObject({
  task: z.array(z.union([z.string(), imageSchema])).readonly(),
  /** Null until there is a plan. */
  plan: z.strictObject({ facts: z.string(), steps: z.string() }).nullable(),
  /** How often another plan was made. */
  replans: z.int().nonnegative(),
  /** Whether the team knows the plan. */
  isTold: z.boolean(),
  /** Turns since the plan was made. */
  rounds: z.int().nonnegative(),
  stalls: z.int().nonnegative(),
})

type State = z.output<typeof stateSchema>

const NOTHING: State = { task: [], plan: null, replans: 0, isTold: false, rounds: 0, stalls: 0 }

/** Leads by two ledgers: what is known and planned, and how far it has come. */
export class Orchestrator implements SpeakerPolicy {
  readonly #options: OrchestratorOptions
  readonly #ledger: ProgressLedger
  #state = NOTHING

  constructor(options: OrchestratorOptions) {
    this.#options = options
    this.#ledger = new ProgressLedger(options.speakers)
  }

  begin(task: readonly ChatMessage[], { waiting }: Pick<Floor, "waiting">): void {
    const parts = task.flatMap((message) => toModelMessage(message).content)
    // While somebody waits for an approval, the work is under way: what comes belongs to it.
    if (waiting.length > 0) this.#state = { ...this.#state, task: [...this.#state.task, ...parts] }
    else if (parts.length > 0) this.#state = { ...NOTHING, task: parts }
    else if (this.#state.task.length === 0) {
      throw new GloveboxError(
        "TASK_INVALID",
        "There is no task to go on with. Pass one to the first run: team.run(task).",
      )
    }
  }

  async next(floor: Floor): Promise<NextSpeakers> {
    const { modelClient, maxTurns } = this.#options
    const model = new LeadModel(modelClient, floor, taskText(this.#state.task))
    if (!this.#state.plan) await this.#plan(model)
    for (;;) {
      if (!this.#state.isTold) await this.#tellPlan(model, floor)
      if (floor.turns >= maxTurns) {
        await this.#answer(model, floor)
        return { stop: `The team had its ${maxTurns} turns.`, kind: "max-turns" }
      }
      const progress = await model.askProgress(this.#ledger)
      await floor.emit(SelectorEvent({ content: JSON.stringify(progress), source: ORCHESTRATOR }))
      if (progress.isSatisfied) {
        await this.#answer(model, floor)
        return { stop: progress.reason || "The request is satisfied." }
      }
      if (!this.#isStalled(progress)) {
        await this.#say(model, floor, progress.instruction)
        return { speakers: [progress.speaker] }
      }
      await this.#plan(model)
    }
  }

  finished(): void {
    this.#state = { ...this.#state, rounds: this.#state.rounds + 1 }
  }

  reset(): void {
    this.#state = NOTHING
  }

  saveState(): JsonObject {
    const { task, plan, ...counters } = this.#state
    const parts = task.map((part) => (typeof part === "string" ? part : { ...part }))
    return { ...counters, task: parts, plan: plan && { ...plan } }
  }

  loadState(state: JsonObject): void {
    const { data, error } = stateSchema.safeParse(state)
    if (error) {
      throw new GloveboxError(
        "STATE_INVALID",
        `This is no state of a MagenticOneGroupChat: ${formatIssues(error.issues)}`,
      )
    }
    this.#state = data
  }

  async #plan(model: LeadModel): Promise<void> {
    const { plan, replans } = this.#state
    const [facts = "", steps = ""] = await model.ask(...(plan ? [NEW_FACTS, NEW_PLAN] : [FACTS, PLAN]))
    this.#state = {
      ...NOTHING,
      task: this.#state.task,
      plan: { facts, steps },
      replans: plan ? replans + 1 : 0,
    }
  }

  /** Another plan is begun without what led astray; the team is then told the request too, which it forgot. */
  async #tellPlan(model: LeadModel, floor: Floor): Promise<void> {
    const { task, plan, replans } = this.#state
    const ledger = formatTemplate(LEDGER, {
      team: describeTeam(floor),
      facts: plan?.facts ?? "",
      plan: plan?.steps ?? "",
    })
    if (replans > 0) await floor.startOver()
    const parts = replans > 0 ? [REQUEST, ...task, ledger] : [ledger]
    // Before it is said: who ends the run while it is shown does not unsay it.
    this.#state = { ...this.#state, isTold: true }
    await this.#say(model, floor, parts)
  }

  async #answer(model: LeadModel, floor: Floor): Promise<void> {
    const { finalAnswerPrompt = FINAL_ANSWER } = this.#options
    const prompt = formatTemplate(finalAnswerPrompt, { task: taskText(this.#state.task) })
    const [answer = ""] = await model.ask(prompt)
    await this.#say(model, floor, answer)
  }

  async #say(model: LeadModel, floor: Floor, content: string | readonly (string | Image)[]): Promise<void> {
    const about = { source: ORCHESTRATOR, modelsUsage: model.takeUsage() }
    const parts = typeof content === "string" ? [content] : content
    await floor.say(
      parts.every((part) => typeof part === "string")
        ? TextMessage({ ...about, content: parts.join("\n\n") })
        : MultiModalMessage({ ...about, content: [...parts] }),
    )
  }

  /** Nobody is stuck who has not begun, so that each plan is tried. */
  #isStalled({ isStuck }: Extract<Progress, { isSatisfied: false }>): boolean {
    const { rounds, stalls } = this.#state
    if (rounds === 0) return false
    const now = isStuck ? stalls + 1 : Math.max(0, stalls - 1)
    this.#state = { ...this.#state, stalls: now }
    return now >= this.#options.maxStalls
  }
}

function taskText(task: State["task"]): string {
  return task.map((part) => (typeof part === "string" ? part : `[image: ${part.mediaType}]`)).join("\n")
}
