import type { CodeBlock, CodeExecutor } from "../../../executors/index.ts"
import type { LLMMessage, RequestUsage } from "../../../models/index.ts"
import { SandboxPolicy } from "../../../policy/index.ts"
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
import { type RunOutcome, runCode } from "./run-code.ts"

/** Code that somebody wrote, and what it came from. */
export interface WrittenCode {
  readonly id?: string | undefined
  /** The answer that it is in. */
  readonly content: string
  readonly codeBlocks: readonly CodeBlock[]
  readonly retryAttempt: number
  readonly modelsUsage?: RequestUsage | undefined
  /** What was said before, for whoever approves. */
  readonly messages: readonly LLMMessage[]
}

/** What became of code: how it went, in words that a model can act on. */
export interface CodeOutcome {
  readonly kind: "succeeded" | "failed" | "denied"
  readonly text: string
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
  report({ kind, text }: Pick<CodeOutcome, "text"> & Partial<CodeOutcome>): Response {
    const metadata = kind === "denied" ? { ...EXECUTION_REPORT, approval: "denied" } : EXECUTION_REPORT
    return response(TextMessage({ content: text, source: this.#source, metadata }), this.#inner)
  }

  /** Tells of the code, has it approved, and runs it. */
  async *run(executor: CodeExecutor, written: WrittenCode): AsyncGenerator<ChatItem, CodeOutcome, undefined> {
    const { retryAttempt, messages } = written
    const source = this.#source
    yield this.generated(written)
    let { codeBlocks } = written
    let note = ""
    if (this.#gate) {
      const proposal = { agent: source, codeBlocks, retryAttempt, messages, policy: policyOf(executor) }
      const verdict = await askApproval(this.#gate, proposal, this.signal)
      if (!verdict.approved) return { kind: "denied", text: denialText(verdict.reason) }
      if (verdict.isEdited) {
        ;({ codeBlocks } = verdict)
        const code = fencedCode(codeBlocks)
        yield this.generated({ content: code, codeBlocks, retryAttempt })
        note = `The code was changed before it ran. This is what ran:\n\n${code}\n\n`
      }
    }
    const outcome = yield* runCode(executor, codeBlocks, { source, signal: this.signal })
    if ("result" in outcome) {
      yield this.keep(CodeExecutionEvent({ source, retryAttempt, result: toCodeRun(outcome.result) }))
    }
    const hasSucceeded = "result" in outcome && outcome.result.exitCode === 0
    return {
      kind: hasSucceeded ? "succeeded" : "failed",
      text: note + describeOutcome(outcome, codeBlocks.length, policyOf(executor)),
    }
  }

  /** Tells of code that was written. */
  generated(code: Omit<WrittenCode, "messages">): CodeGenerationEvent {
    const { id, content, retryAttempt, modelsUsage } = code
    const codeBlocks = code.codeBlocks.map(({ code, language }) => ({ code, language }))
    return this.keep(
      CodeGenerationEvent({ id, source: this.#source, content, codeBlocks, retryAttempt, modelsUsage }),
    )
  }
}

function describeOutcome(outcome: RunOutcome, blocks: number, policy: SandboxPolicy | undefined): string {
  if ("refusal" in outcome) return `The code did not run: ${outcome.refusal}`
  const { result } = outcome
  const text = describeCodeResult(result, policy?.fields.limits)
  const ran = result.blocks.length
  if (result.exitCode === 0 || blocks === 1 || ran === 0) return text
  const after = ran < blocks ? " Those after it did not run." : ""
  return `${text}\nThat was block ${ran} of ${blocks}.${after}`
}

function denialText(reason: string | undefined): string {
  const why = reason === undefined ? "" : ` Reason: ${reason}`
  return `The code was not approved, so it did not run. Do not try it again.${why}`
}

function policyOf(executor: CodeExecutor): SandboxPolicy | undefined {
  return "policy" in executor && executor.policy instanceof SandboxPolicy ? executor.policy : undefined
}
