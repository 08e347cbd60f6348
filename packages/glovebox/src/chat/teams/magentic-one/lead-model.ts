import { GloveboxError } from "../../../core/index.ts"
import { abortable } from "../../../internal/abortable.ts"
import type { ChatCompletionClient, CreateOptions, LLMMessage, RequestUsage } from "../../../models/index.ts"
import {
  type ChatItem,
  type ChatMessage,
  formatTemplate,
  isChatMessage,
  toModelMessage,
  toModelText,
} from "../../messages/index.ts"
import { NO_USAGE, addUsage } from "../../task/index.ts"
import type { Floor } from "../speaker-policy.ts"
import type { Progress, ProgressLedger } from "./progress-ledger.ts"
import { LEAD, progressPrompt } from "./prompts.ts"

/** The name in which the team itself speaks. */
export const ORCHESTRATOR = "MagenticOneOrchestrator"

const MOST_ATTEMPTS = 5

/** Asks the leader's model about the conversation, and adds up what that used until somebody says so. */
export class LeadModel {
  readonly #client: ChatCompletionClient
  readonly #floor: Floor
  readonly #lead: LLMMessage
  #spent = NO_USAGE

  constructor(client: ChatCompletionClient, floor: Floor, task: string) {
    this.#client = client
    this.#floor = floor
    const content = formatTemplate(LEAD, { team: describeTeam(floor), task })
    this.#lead = { type: "SystemMessage", content }
  }

  /** Asks one thing after another, each with the answers before it. */
  async ask(...prompts: readonly string[]): Promise<string[]> {
    const asked: LLMMessage[] = []
    const answers: string[] = []
    for (const prompt of prompts) {
      asked.push(fromLeader(prompt))
      const answer = await this.#create(asked)
      asked.push(fromModel(answer))
      answers.push(answer)
    }
    return answers
  }

  /** Asks for the progress ledger, and again with what is wrong with the answer. */
  async askProgress(ledger: ProgressLedger): Promise<Progress> {
    const { structuredOutput, jsonOutput } = this.#client.modelInfo
    const output = structuredOutput ? ledger.schema : jsonOutput
    const asked: LLMMessage[] = [fromLeader(progressPrompt(this.#floor.participants.map(({ name }) => name)))]
    let problem = ""
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt += 1) {
      const answer = await this.#create(asked, { jsonOutput: output })
      const read = ledger.read(answer)
      if (!("problem" in read)) return read
      problem = read.problem
      asked.push(
        fromModel(answer),
        fromLeader(`This is no ledger: ${problem}. Write the whole JSON object again.`),
      )
    }
    throw new GloveboxError(
      "OUTPUT_INVALID",
      `The model of the ${ORCHESTRATOR} wrote no progress ledger in ${MOST_ATTEMPTS} attempts: ${problem}.`,
    )
  }

  /** What was used since the last time; whoever takes it tells of it. */
  takeUsage(): RequestUsage {
    const spent = this.#spent
    this.#spent = NO_USAGE
    return spent
  }

  async #create(asked: readonly LLMMessage[], options: CreateOptions = {}): Promise<string> {
    const { signal, thread } = this.#floor
    const messages = [this.#lead, ...transcript(thread, this.#client.modelInfo.vision), ...asked]
    // A client that does not look at its signal holds nobody up.
    const { content, usage } = await abortable(this.#client.create(messages, { ...options, signal }), signal)
    this.#spent = addUsage(this.#spent, usage)
    if (typeof content === "string") return content
    throw new GloveboxError(
      "OUTPUT_INVALID",
      `The model of the ${ORCHESTRATOR} called tools, and there are none.`,
    )
  }
}

export function describeTeam({ participants }: Pick<Floor, "participants">): string {
  return participants.map(({ name, description }) => `${name}: ${description}`).join("\n")
}

function transcript(thread: readonly ChatItem[], hasVision: boolean): LLMMessage[] {
  return thread.filter(isChatMessage).map((message, index) =>
    // Some providers want somebody else to begin.
    message.source === ORCHESTRATOR && index > 0 ? fromModel(toModelText(message)) : told(message, hasVision),
  )
}

function told(message: ChatMessage, hasVision: boolean): LLMMessage {
  if (hasVision) return toModelMessage(message)
  return { type: "UserMessage", content: toModelText(message), source: message.source }
}

function fromLeader(content: string): LLMMessage {
  return { type: "UserMessage", content, source: ORCHESTRATOR }
}

function fromModel(content: string): LLMMessage {
  // Some providers refuse a message without words.
  return { type: "AssistantMessage", content: content.trim() === "" ? "..." : content, source: ORCHESTRATOR }
}
