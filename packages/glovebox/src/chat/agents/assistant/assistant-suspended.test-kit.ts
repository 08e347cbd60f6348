import { z } from "zod"
import type { JsonObject } from "../../../core/index.ts"
import { ApprovalGate, type ApprovalGateOptions, type GateAnswer } from "../../../governance/index.ts"
import { ReplayChatCompletionClient, type ReplayResponse } from "../../../models/replay/index.ts"
import { type Tool, tool } from "../../../tools/index.ts"
import type { TaskResult } from "../../task/index.ts"
import { AssistantAgent, type AssistantAgentOptions } from "./index.ts"

/** A tool that somebody has to approve; it notes what it pays. */
export function payTool(paid: number[]): Tool {
  return tool({
    name: "pay",
    description: "Pays an invoice",
    parameters: z.object({ euros: z.number() }),
    risk: "high",
    approval: true,
    execute: ({ euros }) => {
      paid.push(euros)
      return `paid ${euros}`
    },
  })
}

export interface DeskOptions extends Omit<AssistantAgentOptions, "name" | "modelClient"> {
  readonly gate?: ApprovalGateOptions | undefined
}

/** An assistant that can pay, whose approvals wait for nobody, as one process has it. */
export class Desk {
  readonly gate: ApprovalGate
  readonly modelClient: ReplayChatCompletionClient
  readonly assistant: AssistantAgent
  /** What was paid, by whichever process. */
  readonly paid: number[]

  constructor(
    script: readonly ReplayResponse[],
    { gate, ...options }: DeskOptions = {},
    paid: number[] = [],
  ) {
    this.gate = new ApprovalGate({ suspend: true, ...gate })
    this.modelClient = new ReplayChatCompletionClient(script)
    this.paid = paid
    this.assistant = new AssistantAgent({
      name: "clerk",
      modelClient: this.modelClient,
      tools: [payTool(paid)],
      approve: this.gate.forTools({ agent: "clerk" }),
      ...options,
    })
  }

  /** Another process, with all that this one leaves, as JSON. */
  async move(script: readonly ReplayResponse[], options: DeskOptions = {}): Promise<Desk> {
    const saved = JSON.stringify([await this.assistant.saveState(), await this.gate.saveState()])
    const [state, approvals] = JSON.parse(saved) as [JsonObject, JsonObject]
    const desk = new Desk(script, options, this.paid)
    await desk.assistant.loadState(state)
    desk.gate.loadState(approvals)
    return desk
  }

  answer(
    { pending = [] }: Pick<TaskResult, "pending">,
    said: GateAnswer = { decision: "approve", by: "ann" },
  ): void {
    for (const id of pending) this.gate.answer(id, said)
  }
}
