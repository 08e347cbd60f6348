import { GloveboxError, type JsonObject, type JsonValue } from "../../core/index.ts"
import { checkJson } from "../../core/json.ts"
import { abortableAfter } from "../../internal/abortable-after.ts"
import type { ToolSchema } from "../../models/index.ts"
import type { CallToolOptions, ToolResult, ToolStreamItem, Workbench } from "../../tools/index.ts"
import { lastOf } from "../../tools/tool.ts"
import { type CallToAdmit, admitCall } from "./admit-call.ts"
import { authorize } from "./authorize.ts"
import type { Controls } from "./controls.ts"
import type { EffectLog } from "./effect-log.ts"
import { GovernedCall } from "./governed-call.ts"
import type { Governor } from "./governor.ts"
import { redactToolItems } from "./redact-tool-items.ts"
import { redactThrown } from "./redact-thrown.ts"

// As long as a tool may take to end after an abort.
const ENDING_MS = 5_000

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

  /** Whether what happens here is written into this log: it is behind the same rules then. */
  isBehind(log: EffectLog): boolean {
    return this.#controls.log === log
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
    given?: unknown,
    { signal, callId, approve, ...rest }: CallToolOptions = {},
  ): AsyncGenerator<ToolStreamItem, ToolResult, undefined> {
    const { agent, telemetry } = this.#controls
    // Of one's own: what is asked for is what is done, whatever becomes of theirs.
    const args = ownCopy(given)
    await authorize(this.#controls, { kind: "tool", name }, signal)
    const call = new GovernedCall({ tool: name, arguments: args, approve, signal }, this.#controls)
    const observed = telemetry.toolCall({ agent, tool: name, callId, arguments: args })
    let failure: unknown = "Nobody wanted the rest of the call."
    try {
      const options = {
        ...rest,
        signal,
        callId,
        approve: call.approve,
        governor: this.#governor,
        guard: call,
      }
      const items = this.#items(call, { name, args, options })
      let isDone = false
      let isStuck = false
      try {
        for (;;) {
          isStuck = true
          const next = await abortableAfter(
            observed.run(() => items.next()),
            signal,
            ENDING_MS,
          )
          isStuck = false
          isDone = next.done === true
          const result = resultIn(next)
          if (result) {
            await call.done(result)
            observed.end(result)
            if (!isDone) yield result
            return result
          }
          yield next.value
        }
      } finally {
        if (!isDone) {
          const ended = items.return(undefined as never).catch(() => {})
          // One that does not look at its signal is left to itself.
          if (!isStuck) await ended
        }
      }
    } catch (error) {
      failure = error
      observed.fail(error)
      throw redactThrown(error, this.#controls.redactor)
    } finally {
      observed.fail(failure)
      await call.failed(failure)
    }
  }

  async *#items(
    call: GovernedCall,
    wanted: CallToAdmit,
  ): AsyncGenerator<ToolStreamItem, ToolResult, undefined> {
    const { name, args, options } = wanted
    // One that asks for itself does so after it has looked at the arguments.
    const asksItself = this.#workbench.guardsCall?.(name) === true
    const admitted = asksItself ? { arguments: args } : await admitCall(call, wanted)
    if ("refusal" in admitted) {
      yield admitted.refusal
      return admitted.refusal
    }
    const { redactor } = this.#controls
    const stream = this.#workbench.callToolStream(name, admitted.arguments, options)
    return yield* redactor ? redactToolItems(stream, redactor) : stream
  }

  forgetCall(name: string, callId: string): void {
    this.#workbench.forgetCall?.(name, callId)
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

// A workbench of anybody's may end without one.
function resultIn({
  value,
  done,
}: IteratorResult<ToolStreamItem, ToolResult | undefined>): ToolResult | undefined {
  if (value?.type === "ToolResult") return value
  if (done === true) throw new GloveboxError("TOOL_FAILED", "The call ended without a result.")
  return undefined
}

// As data, where it is some: a getter or a proxy gives one answer and not two.
function ownCopy(args: unknown): unknown {
  try {
    checkJson(args)
    return JSON.parse(JSON.stringify(args)) as JsonValue
  } catch {
    return args
  }
}
