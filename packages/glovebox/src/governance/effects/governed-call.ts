import { randomUUID } from "node:crypto"
import { GloveboxError, type JsonValue } from "../../core/index.ts"
import { checkJson } from "../../core/json.ts"
import { errorMessage } from "../../internal/error-message.ts"
import { hashCall } from "../../tools/hash-call.ts"
import type {
  ApprovalDecision,
  ApprovalRequest,
  Approve,
  CallGuard,
  CallToMake,
  ToolResult,
} from "../../tools/index.ts"
import { toolResultText } from "../../tools/tool-result.ts"
import { toolPayload } from "../approval/approval-adapters.ts"
import type { ApprovalLane } from "../approval/approval-rules.ts"
import { sha256Of } from "../audit/code-run-data.ts"
import type { AuditData } from "../audit/record-kinds.ts"
import type { Controls } from "./controls.ts"
import type { EffectEntry, OpenEffect } from "./effect-log.ts"
import { recordedApprove } from "./recorded-approve.ts"

type ToolCall = AuditData<"tool-call">

export interface CallOptions {
  readonly tool: string
  /** As they were given. */
  readonly arguments: unknown
  /** Whom to ask. @default the gate */
  readonly approve: Approve | undefined
  readonly signal: AbortSignal | undefined
}

/** One call of a tool: agreed to, announced on the disk, made, and its end recorded, in this order. */
export class GovernedCall implements CallGuard {
  readonly #options: CallOptions
  readonly #controls: Controls
  #data: ToolCall
  #announced: Promise<OpenEffect> | undefined
  #isOver = false
  #start = performance.now()
  /** Of what somebody agreed to. */
  #approved: string | undefined

  constructor(options: CallOptions, controls: Controls) {
    this.#options = options
    this.#controls = controls
    const { tool, arguments: args } = options
    this.#data = { phase: "intent", id: randomUUID(), tool, ...this.#argumentsData(args) }
  }

  /** What asks; undefined where there is nobody, and a workbench may have its own. */
  get approve(): Approve | undefined {
    const { gate } = this.#controls
    return this.#options.approve || gate ? async (request) => this.#ask(request) : undefined
  }

  mustAsk(request: ApprovalRequest): boolean {
    return !this.#takeApproval(request) && this.#lane(request) !== "allow"
  }

  /** Announces it; the first time counts. */
  async begin({ arguments: args, risk }: CallToMake): Promise<void> {
    if (this.#announced) {
      await this.#announced
      return
    }
    const { tool, signal } = this.#options
    const sha256 = hashCall(tool, args)
    this.#data = { ...this.#data, risk, ...this.#argumentsData(args) }
    this.#announced = this.#controls.log.begin(this.#entry({}), { signal })
    await this.#announced
    this.#start = performance.now()
    if (hashCall(tool, args) === sha256) return
    throw new GloveboxError(
      "APPROVAL_MISMATCH",
      `The arguments of ${tool} were changed after they were recorded, so it was not called.`,
    )
  }

  /** Records the result, before anybody hears of it. */
  async done(result: ToolResult): Promise<void> {
    const { isError } = result
    const text = toolResultText(result)
    // A refusal: nothing was done.
    if (!this.#announced && isError) return this.failed(text)
    // Whatever this was, it did not ask first; that it was done is recorded at least.
    if (!this.#announced) await this.begin({ arguments: this.#options.arguments, risk: "medium" })
    this.#isOver = true
    const effect = await this.#announced
    await effect?.close(this.#entry({ phase: "done", isError, resultSha256: sha256Of(text) }))
  }

  /** Records that it came to nothing; one that waits for its approval has not begun, and comes again. */
  async failed(why: unknown): Promise<void> {
    if (this.#isOver) return
    this.#isOver = true
    const entry = this.#entry({ phase: "failed", error: errorMessage(why) })
    if (this.#announced) {
      // One that could not be announced has its end already, or no beginning.
      const [announced] = await Promise.allSettled([this.#announced])
      if (announced.status === "fulfilled") await announced.value.close(entry)
    } else if (!isPending(why)) await this.#controls.log.record(entry)
  }

  async #ask(request: ApprovalRequest): Promise<ApprovalDecision> {
    const { gate, agent } = this.#controls
    const { approve } = this.#options
    if (this.#takeApproval(request)) return { approved: true }
    // What a rule denies, nobody else can allow.
    const isDenied = this.#lane(request) === "deny"
    const own = isDenied ? undefined : approve
    const ask = own ? recordedApprove(own, this.#controls) : gate?.forTools({ agent })
    if (!ask) return { approved: false }
    this.#data = { ...this.#data, risk: request.risk }
    const decision = (await ask(request)) ?? { approved: false }
    if (decision.approved) {
      const { arguments: edited } = decision
      this.#approved = edited === undefined ? request.sha256 : hashCall(request.tool, edited)
    }
    return decision
  }

  // What was asked for before the tool looked at it is not asked again, once.
  #takeApproval({ sha256 }: ApprovalRequest): boolean {
    if (sha256 !== this.#approved) return false
    this.#approved = undefined
    return true
  }

  #lane({ tool, risk, arguments: args, sha256, asks }: ApprovalRequest): ApprovalLane {
    const { gate, agent } = this.#controls
    if (!gate) return "allow"
    return gate.laneOf({ kind: "tool", payload: toolPayload(tool, args, sha256), agent, risk, asks })
  }

  #argumentsData(args: unknown): Pick<ToolCall, "argumentsSha256" | "arguments"> {
    const argumentsSha256 = hashCall(this.#options.tool, args)
    return this.#controls.content.arguments === true
      ? { argumentsSha256, arguments: asJson(args) }
      : { argumentsSha256 }
  }

  #entry(outcome: Partial<ToolCall>): EffectEntry {
    const { agent } = this.#controls
    const durationMs = outcome.phase && this.#announced ? performance.now() - this.#start : undefined
    return { kind: "tool-call", agent, data: { ...this.#data, durationMs, ...outcome } }
  }
}

function isPending(error: unknown): boolean {
  return GloveboxError.is(error, "APPROVAL_PENDING")
}

function asJson(args: unknown): JsonValue {
  try {
    checkJson(args)
    return (args ?? null) as JsonValue
  } catch {
    return "arguments that JSON has no form for"
  }
}
