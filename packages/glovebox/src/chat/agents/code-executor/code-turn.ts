import type { CodeBlock, CodeExecutor, CodeResult } from "../../../executors/index.ts"
import type { LLMMessage, RequestUsage } from "../../../models/index.ts"
import { isWithin, reachOf } from "../../../governance/effects/executor-reach.ts"
import { GovernedExecutor } from "../../../governance/effects/governed-executor.ts"
import type { SandboxPolicy } from "../../../policy/index.ts"
import { denialText } from "../../../tools/code-execution/denial-of.ts"
import { describeCodeResult } from "../../../tools/code-execution/index.ts"
import {
  type ChatItem,
  CodeExecutionEvent,
  CodeGenerationEvent,
  TextMessage,
  toCodeRun,
} from "../../messages/index.ts"
import { type Response, response } from "../../task/index.ts"
import { type CodeGate, askApproval } from "./approve-code.ts"
import { EXECUTION_REPORT } from "./execution-report.ts"
import { fencedCode } from "./fenced-code.ts"
import { runCode } from "./run-code.ts"

const WIDENED = "What it could reach was widened after it was approved."

/** Code that somebody wrote, and what it came from. */
export interface WrittenCode {
  readonly id?: string | undefined
  /** The answer that it is in. */
  readonly content: string
  readonly codeBlocks: readonly CodeBlock[]
  readonly retryAttempt: number
  readonly modelsUsage?: RequestUsage | undefined
}

export interface CodeToRun extends Pick<WrittenCode, "codeBlocks" | "retryAttempt"> {
  /** What was said before, for whoever approves. */
  readonly messages: readonly LLMMessage[]
  /** Called when it is about to run: until then nothing has happened. */
  readonly onStart?: (() => void) | undefined
}

/** What became of code: how it went, in words that a model can act on. */
export interface CodeOutcome {
  readonly kind: "succeeded" | "failed" | "denied"
  readonly text: string
  /** Ours, to be said before it. */
  readonly note?: string | undefined
  /** Whether a program wrote some of the text. @default false */
  readonly isOutput?: boolean | undefined
}

/** One turn of an agent that runs code: what it keeps, and how it runs. */
export class CodeTurn {
  readonly #source: string
  readonly #gate: CodeGate | undefined
  readonly #inner: ChatItem[] = []
  readonly signal: AbortSignal

  constructor(source: string, gate: CodeGate | undefined, signal: AbortSignal) {
    this.#source = source
    this.#gate = gate
    this.signal = signal
  }

  /** Notes an event for the response; it is to be yielded too. */
  keep<Item extends ChatItem>(item: Item): Item {
    this.#inner.push(item)
    return item
  }

  /** The reply of a model. */
  reply(content: string, fields: Pick<TextMessage, "id" | "modelsUsage">): Response {
    return response(TextMessage({ ...fields, content, source: this.#source }), this.#inner)
  }

  /** The reply that tells what became of code; code that was denied must not be tried again. */
  report({ kind, text, note = "" }: Pick<CodeOutcome, "text"> & Partial<CodeOutcome>): Response {
    const metadata = kind === "denied" ? { ...EXECUTION_REPORT, approval: "denied" } : EXECUTION_REPORT
    return response(TextMessage({ content: note + text, source: this.#source, metadata }), this.#inner)
  }

  /**
   * Has code approved that was told of, and runs it.
   *
   * @throws APPROVAL_PENDING when it has to wait for its approval; nothing has run then
   */
  async *run(executor: CodeExecutor, code: CodeToRun): AsyncGenerator<ChatItem, CodeOutcome, undefined> {
    const { retryAttempt, messages } = code
    const { signal } = this
    const source = this.#source
    const reach = reachOf(executor)
    let { codeBlocks } = code
    let note: string | undefined
    if (this.#gate) {
      // Nobody is asked for what may not be.
      if (executor instanceof GovernedExecutor) await executor.authorize({ signal })
      const proposal = { agent: source, codeBlocks, retryAttempt, messages, ...reach }
      const verdict = await askApproval(this.#gate, proposal, signal)
      if (!verdict.approved) return { kind: "denied", text: denialText(verdict.reason) }
      // What was approved, to the letter, and under what it was approved for.
      ;({ codeBlocks } = verdict)
      if (!isWithin(reachOf(executor), reach)) return { kind: "denied", text: denialText(WIDENED) }
      if (verdict.isEdited) {
        const content = fencedCode(codeBlocks)
        yield this.generated({ content, codeBlocks, retryAttempt })
        note = `The code was changed before it ran. This is what ran:\n\n${content}\n\n`
      }
    }
    code.onStart?.()
    const outcome = yield* runCode(executor, codeBlocks, { source, signal })
    if ("denial" in outcome) return { kind: "denied", text: outcome.denial, note }
    if ("refusal" in outcome)
      return { kind: "failed", text: `The code did not run: ${outcome.refusal}`, note }
    const { result } = outcome
    yield this.keep(CodeExecutionEvent({ source, retryAttempt, result: toCodeRun(result) }))
    return {
      kind: result.exitCode === 0 ? "succeeded" : "failed",
      text: describeRun(result, codeBlocks.length, reach.policy),
      note,
      isOutput: true,
    }
  }

  /** Tells of code that was written. */
  generated(code: WrittenCode): CodeGenerationEvent {
    const { id, content, retryAttempt, modelsUsage } = code
    const codeBlocks = code.codeBlocks.map(({ code, language }) => ({ code, language }))
    return this.keep(
      CodeGenerationEvent({ id, source: this.#source, content, codeBlocks, retryAttempt, modelsUsage }),
    )
  }
}

function describeRun(result: CodeResult, blocks: number, policy: SandboxPolicy | undefined): string {
  const text = describeCodeResult(result, policy?.fields.limits)
  const ran = result.blocks.length
  if (result.exitCode === 0 || blocks === 1 || ran === 0) return text
  const after = ran < blocks ? " Those after it did not run." : ""
  return `${text}\nThat was block ${ran} of ${blocks}.${after}`
}
