import { randomUUID } from "node:crypto"
import type { JsonObject, JsonValue } from "../../core/index.ts"
import { checkJson } from "../../core/json.ts"
import { errorMessage } from "../../internal/error-message.ts"
import type { ToolSchema } from "../../models/index.ts"
import type { Approve, CallToolOptions, ToolResult, ToolStreamItem, Workbench } from "../../tools/index.ts"
import { hashCall } from "../../tools/hash-call.ts"
import { lastOf } from "../../tools/tool.ts"
import { toolResultText } from "../../tools/tool-result.ts"
import type { AuditData, AuditEntry } from "../audit/record-kinds.ts"
import { sha256Of } from "../audit/code-run-data.ts"
import { authorize } from "./authorize.ts"
import type { Controls } from "./controls.ts"
import type { Governor } from "./governor.ts"
import { redactToolItems } from "./redact-tool-items.ts"

type ToolCall = AuditData<"tool-call">

/** A workbench behind the rules: calls are allowed, approved, recorded and traced, and what they give is redacted. */
export class GovernedWorkbench implements Workbench {
  readonly #workbench: Workbench
  readonly #controls: Controls
  readonly #governor: Governor

  constructor(workbench: Workbench, controls: Controls, governor: Governor) {
    this.#workbench = workbench
    this.#controls = controls
    this.#governor = governor
  }

  async start(options?: { readonly signal?: AbortSignal | undefined }): Promise<void> {
    await this.#workbench.start(options)
  }

  async stop(): Promise<void> {
    await this.#workbench.stop()
  }

  async reset(): Promise<void> {
    await this.#workbench.reset()
  }

  /** Without those that the agent may not call. */
  async listTools(options?: { readonly signal?: AbortSignal | undefined }): Promise<readonly ToolSchema[]> {
    const { access, agent } = this.#controls
    const tools = await this.#workbench.listTools(options)
    return access ? tools.filter(({ name }) => access.allows({ agent, kind: "tool", name })) : tools
  }

  async callTool(name: string, args?: unknown, options: CallToolOptions = {}): Promise<ToolResult> {
    return lastOf(this.callToolStream(name, args, options))
  }

  async *callToolStream(
    name: string,
    args?: unknown,
    { signal, callId, approve = this.#governor.approveTool, ...rest }: CallToolOptions = {},
  ): AsyncGenerator<ToolStreamItem, ToolResult, undefined> {
    const { agent, log, telemetry, content, redactor } = this.#controls
    await authorize(this.#controls, { kind: "tool", name }, signal)
    const data: ToolCall = {
      phase: "intent",
      id: randomUUID(),
      tool: name,
      argumentsSha256: hashCall(name, args),
      ...(content.arguments === true && { arguments: asJson(args) }),
    }
    const effect = await log.begin({ kind: "tool-call", agent, data }, { signal })
    const observed = telemetry.toolCall({ agent, tool: name, callId, arguments: args })
    const start = performance.now()
    // What is approved may be something else than what was asked for, and that is what is done.
    let done: Partial<ToolCall> = {}
    const watched: Approve | undefined =
      approve &&
      (async (request) => {
        done = { ...done, risk: request.risk }
        const decision = await approve(request)
        if (decision.approved && decision.arguments !== undefined) {
          done = { ...done, argumentsSha256: hashCall(name, decision.arguments) }
          if (content.arguments === true) done = { ...done, arguments: asJson(decision.arguments) }
        }
        return decision
      })
    const entry = (outcome: Partial<ToolCall>): AuditEntry => ({
      kind: "tool-call",
      agent,
      data: { ...data, ...done, durationMs: performance.now() - start, ...outcome },
    })
    let failure = "Nobody wanted the rest of the call."
    try {
      const options = { ...rest, signal, callId, approve: watched, governor: this.#governor }
      const stream = this.#workbench.callToolStream(name, args, options)
      const items = redactor ? redactToolItems(stream, redactor) : stream
      let isDone = false
      try {
        for (;;) {
          const next = await observed.run(() => items.next())
          isDone = next.done === true
          if (next.value.type === "ToolResult") {
            const { isError } = next.value
            const resultSha256 = sha256Of(toolResultText(next.value))
            // Recorded before anybody hears of it.
            await effect.close(entry({ phase: "done", isError, resultSha256 }))
            observed.end(next.value)
            if (!isDone) yield next.value
            return next.value
          }
          yield next.value
        }
      } finally {
        if (!isDone) await items.return(undefined as never)
      }
    } catch (error) {
      failure = errorMessage(error)
      observed.fail(error)
      throw error
    } finally {
      observed.fail(failure)
      await effect.close(entry({ phase: "failed", error: failure }))
    }
  }

  async saveState(): Promise<JsonObject> {
    return this.#workbench.saveState()
  }

  async loadState(state: JsonObject): Promise<void> {
    await this.#workbench.loadState(state)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#workbench[Symbol.asyncDispose]()
  }
}

function asJson(args: unknown): JsonValue {
  try {
    checkJson(args)
    return args as JsonValue
  } catch {
    return "arguments that JSON has no form for"
  }
}
