import { join } from "node:path"
import type { JsonObject } from "../../../core/index.ts"
import { AuditFolder } from "../../../governance/audit/audit-folder.test-kit.ts"
import {
  type ApprovalGateOptions,
  FileApprovalQueue,
  type GateAnswer,
  Governance,
  answerApproval,
} from "../../../governance/index.ts"
import { ReplayChatCompletionClient, type ReplayResponse } from "../../../models/replay/index.ts"
import type { TaskResult } from "../../task/index.ts"
import { payTool } from "./assistant-suspended.test-kit.ts"
import { AssistantAgent, type AssistantAgentOptions } from "./index.ts"

/** An agent with its governance and its model, as one process has them. */
export interface Office {
  readonly governance: Governance
  readonly modelClient: ReplayChatCompletionClient
  readonly assistant: AssistantAgent
}

export interface OfficeOptions extends Omit<AssistantAgentOptions, "name" | "modelClient" | "governance"> {
  readonly gate?: Omit<ApprovalGateOptions, "provider" | "suspend"> | undefined
}

/** A folder with a log and a queue of approvals, and the processes that use it. */
export class OfficePlace implements AsyncDisposable {
  readonly folder: AuditFolder
  /** What was paid with the tool, by whichever process. */
  readonly paid: number[] = []
  readonly #opened: Office[] = []

  private constructor(folder: AuditFolder) {
    this.folder = folder
  }

  static async make(): Promise<OfficePlace> {
    return new OfficePlace(await AuditFolder.make())
  }

  /** An assistant that has a tool which needs an approval, and that waits for nobody. */
  open(script: readonly ReplayResponse[], { gate, ...options }: OfficeOptions = {}): Office {
    const provider = new FileApprovalQueue({ folder: this.#queue })
    const audit = { path: this.folder.path }
    const governance = new Governance({ audit, approval: { ...gate, provider, suspend: true } })
    const modelClient = new ReplayChatCompletionClient(script)
    const tools = [payTool(this.paid)]
    const assistant = new AssistantAgent({ name: "clerk", modelClient, governance, tools, ...options })
    const opened = { governance, modelClient, assistant }
    this.#opened.push(opened)
    return opened
  }

  /** Another process, with all that one leaves, as JSON; the one ends. */
  async move(from: Office, script: readonly ReplayResponse[], options: OfficeOptions = {}): Promise<Office> {
    const saved = JSON.stringify([await from.assistant.saveState(), await from.governance.saveState()])
    await from.governance.close()
    const [state, approvals] = JSON.parse(saved) as [JsonObject, JsonObject]
    const to = this.open(script, options)
    await to.assistant.loadState(state)
    to.governance.loadState(approvals)
    return to
  }

  /** Answers as another process would: by the folder. */
  async answer(
    { pending = [] }: Pick<TaskResult, "pending">,
    said: GateAnswer = { decision: "approve", by: "ann" },
  ): Promise<void> {
    for (const id of pending) await answerApproval(this.#queue, id, said)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { governance } of this.#opened) await governance.close()
    await this.folder[Symbol.asyncDispose]()
  }

  get #queue(): string {
    return join(this.folder.folder, "queue")
  }
}
