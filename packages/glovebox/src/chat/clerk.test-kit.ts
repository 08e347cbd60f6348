import type { JsonObject } from "../core/index.ts"
import { codeProposal } from "../governance/approval/approval-gate.test-kit.ts"
import { ApprovalError, type ApprovalGate, type ApprovalGateState } from "../governance/approval/index.ts"
import { BaseChatAgent } from "./agents/base-chat-agent.ts"
import type { TurnOptions, TurnStream } from "./agents/chat-agent.ts"
import { type ChatMessage, HandoffMessage, TextMessage, ThoughtEvent, toText } from "./messages/index.ts"
import { type TaskResult, response } from "./task/index.ts"

export const USAGE = { promptTokens: 10, completionTokens: 1 }

/** What a test can see of the world: it outlives the processes. */
export type Ledger = (line: string) => void

export interface ClerkOptions {
  /** To whom it passes the word when it is done. @default nobody */
  readonly handsOffTo?: string
  /** Whether it tells all of its turn again when it goes on. @default false */
  readonly tellsAgain?: boolean
}

/** Asks its model what to do (`a thinks of task`), asks for leave, does it (`a acts`), and says so. */
export class Clerk extends BaseChatAgent {
  readonly #gate: ApprovalGate
  readonly #note: Ledger
  readonly #options: ClerkOptions
  /** How often it was called, and with what. */
  readonly asked: string[] = []
  #plan: string | null = null
  #thoughts: readonly ThoughtEvent[] = []

  constructor(name: string, gate: ApprovalGate, note: Ledger, options: ClerkOptions = {}) {
    super(name, `${name} of the test.`)
    this.#gate = gate
    this.#note = note
    this.#options = options
  }

  override get producedMessageTypes(): readonly string[] {
    return ["TextMessage", "HandoffMessage"]
  }

  override async *onMessagesStream(
    messages: readonly ChatMessage[],
    { signal, isRetry = false }: TurnOptions,
  ): TurnStream {
    const heard = messages.map(toText).join("+")
    this.asked.push(isRetry ? `again ${heard}` : heard)
    const isFirst = this.#plan === null
    if (isFirst) this.#think(heard)
    if (isFirst || this.#options.tellsAgain === true) for (const thought of this.#thoughts) yield thought
    const deed = await this.#act(this.#plan ?? "", signal)
    this.#plan = null
    const last = response(this.#say(deed))
    yield last
    return last
  }

  override async onReset(): Promise<void> {
    this.#plan = null
  }

  override async saveState(): Promise<JsonObject> {
    return { plan: this.#plan }
  }

  override async loadState({ plan }: JsonObject): Promise<void> {
    this.#plan = typeof plan === "string" ? plan : null
  }

  #think(heard: string): void {
    this.#note(`${this.name} thinks of ${heard}`)
    this.#plan = heard
    const content = `${this.name} has a plan`
    this.#thoughts = [ThoughtEvent({ source: this.name, content, modelsUsage: USAGE })]
  }

  async #act(plan: string, signal: AbortSignal): Promise<string> {
    const proposal = codeProposal(`do(${JSON.stringify(plan)})`, { agent: this.name })
    try {
      const grant = await this.#gate.request(proposal, { signal })
      await grant.use(grant.payload, { signal })
    } catch (error) {
      if (!(error instanceof ApprovalError) || error.code === "APPROVAL_PENDING") throw error
      return `${this.name} may not: ${error.reason ?? ""}`
    }
    this.#note(`${this.name} acts`)
    return `${this.name} did it`
  }

  #say(content: string): ChatMessage {
    const { handsOffTo: target } = this.#options
    return target === undefined
      ? TextMessage({ source: this.name, content })
      : HandoffMessage({ source: this.name, content, target })
  }
}

interface Saved {
  saveState(): Promise<JsonObject>
  loadState(state: JsonObject): Promise<void>
}

/** An agent or team with its gate, as one process has them. */
export interface Office<Runner extends Saved> {
  readonly gate: ApprovalGate
  readonly runner: Runner
}

/** All that one process leaves to another, as JSON. */
export async function moveTo<Runner extends Saved>(
  from: Office<Runner>,
  to: Office<Runner>,
): Promise<Office<Runner>> {
  const saved = JSON.stringify([await from.runner.saveState(), await from.gate.saveState()])
  const [state, approvals] = JSON.parse(saved) as [JsonObject, ApprovalGateState]
  await to.runner.loadState(state)
  to.gate.loadState(approvals)
  return to
}

export function approve(gate: ApprovalGate, { pending = [] }: Pick<TaskResult, "pending">): void {
  for (const id of pending) gate.answer(id, { decision: "approve", by: "ann" })
}

/** Who said or did what, in a line each. */
export function lines({ messages }: Pick<TaskResult, "messages">): string[] {
  return messages.map((item) => `${item.source}: ${toText(item)}`)
}
