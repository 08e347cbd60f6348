import type { GateAnswer } from "./gate-answer.ts"
import type { GateRequest } from "./gate-request.ts"

export interface AskOptions {
  /** Aborted when the answer is not wanted any more, or comes too late. */
  readonly signal: AbortSignal
}

/** Somebody who can be asked. What it answers is checked; an error, silence and rubbish deny. */
export interface ApprovalProvider {
  /** For the record. */
  readonly name: string
  /** Asks and waits. After a restart it is asked the same request again, and gives the answer that came meanwhile. */
  ask(request: GateRequest, options: AskOptions): Promise<unknown>
  /** Puts the request where it can be answered later, without waiting. */
  post?(request: GateRequest, options: AskOptions): Promise<void>
  /** The answer to what was posted, or undefined. */
  peek?(request: GateRequest): Promise<unknown>
  /** The request is not waited for any more: nobody should answer it. */
  withdraw?(request: GateRequest): Promise<void>
  /** Marks it as used, across processes: true for exactly one caller, ever. */
  claim?(request: GateRequest): Promise<boolean>
}

export type AnswerRequest = (request: GateRequest, options: AskOptions) => GateAnswer | Promise<GateAnswer>

/** A provider of one function. */
export function functionProvider(name: string, answer: AnswerRequest): ApprovalProvider {
  return { name, ask: async (request, options) => answer(request, options) }
}
