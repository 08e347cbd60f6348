import type { ApprovalProposal } from "./approval-proposal.ts"
import type { ApprovalProvider } from "./approval-provider.ts"
import type { GateAnswer } from "./gate-answer.ts"
import type { GateRequest } from "./gate-request.ts"
import { SandboxPolicy } from "../../policy/index.ts"

export const DENY_ALL = new SandboxPolicy()
export const WIDE = new SandboxPolicy({ network: { allow: ["example.com:443"] } })

/** Code under a policy that is wider than deny-all, so that somebody is asked. */
export function codeProposal(
  code = "print(1)",
  fields: Partial<ApprovalProposal<"code">> = {},
): ApprovalProposal<"code"> {
  const payload = { codeBlocks: [{ code, language: "python" }] }
  return { kind: "code", payload, agent: "coder", policy: WIDE, ...fields }
}

/** Somebody whose answers a test gives when it likes. */
export class Person implements ApprovalProvider {
  readonly name: string = "person"
  readonly asked: GateRequest[] = []
  readonly withdrawn: string[] = []
  #answers: ((answer: unknown) => void)[] = []
  #onAsked: () => void = () => {}

  ask(request: GateRequest): Promise<unknown> {
    this.asked.push(request)
    this.#onAsked()
    return new Promise((resolve) => this.#answers.push(resolve))
  }

  withdraw({ id }: GateRequest): Promise<void> {
    this.withdrawn.push(id)
    return Promise.resolve()
  }

  /** Waits until so many questions were asked. */
  async waitFor(count: number): Promise<void> {
    while (this.asked.length < count) {
      await new Promise<void>((resolve) => {
        this.#onAsked = resolve
      })
    }
  }

  say(index: number, answer: GateAnswer): void {
    this.#answers[index]?.(answer)
  }
}
