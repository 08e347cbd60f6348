import { describe, expect, it } from "vitest"
import { type ApprovalGateOptions, Governance } from "../../../governance/index.ts"
import { SandboxPolicy } from "../../../policy/index.ts"
import { FakeExecutor, WideExecutor, python } from "./fake-executor.test-kit.ts"
import { CodeExecutorAgent, type CodeExecutorAgentOptions } from "./index.ts"

const WIDER = new SandboxPolicy({ network: { allow: ["example.com:443", "b.example:443"] } })

class Changing extends FakeExecutor {
  override policy = new WideExecutor().policy
}

async function outcomeOf(
  codeExecutor: FakeExecutor,
  approval: ApprovalGateOptions,
  options: Partial<CodeExecutorAgentOptions> = {},
): Promise<unknown> {
  const governance = new Governance({ audit: false, approval })
  const agent = new CodeExecutorAgent({ name: "coder", codeExecutor, governance, ...options })
  return (await agent.run(python("print(1)"))).messages.at(-1)
}

describe("the rules that a CodeExecutorAgent is bound by", () => {
  it("does not run what was approved where its policy is widened while somebody is asked", async () => {
    const executor = new Changing("1\n")
    const said = await outcomeOf(executor, {
      provider: () => {
        executor.policy = WIDER
        return { decision: "approve" }
      },
    })
    expect(executor.ran).toEqual([])
    expect(said).toMatchObject({ metadata: { approval: "denied" } })
  })

  it("does not run what a rule denies, whatever a function of the user says", async () => {
    const executor = new FakeExecutor("1\n")
    const rules = [{ when: { language: "python" }, then: "deny" }] as const
    const approve = (): { readonly approved: true } => ({ approved: true })
    const said = await outcomeOf(executor, { rules }, { approve })
    expect(executor.ran).toEqual([])
    expect(said).toMatchObject({ content: expect.stringContaining("A rule denies it.") })
  })

  it("asks by its own gate where the executor is behind another one", async () => {
    const executor = new WideExecutor("1\n")
    const theirs = new Governance({
      audit: false,
      approval: { provider: () => ({ decision: "approve" }) },
    })
    const governed = theirs.agent("owner").executor(executor)
    const mine = new Governance({ audit: false })
    const agent = new CodeExecutorAgent({ name: "coder", codeExecutor: governed, governance: mine })
    const { messages } = await agent.run(python("print(1)"))
    expect(messages.at(-1)).toMatchObject({ metadata: { approval: "denied" } })
    expect(executor.ran).toEqual([])
  })
})
