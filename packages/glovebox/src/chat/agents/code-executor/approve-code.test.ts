import { createHash } from "node:crypto"
import { describe, expect, it } from "vitest"
import { gate } from "../../../core/gate.test-kit.ts"
import { ReplayChatCompletionClient } from "../../../models/replay/index.ts"
import type { ChatItem } from "../../messages/index.ts"
import type { TaskResult } from "../../task/index.ts"
import { FakeExecutor, failing, python } from "./fake-executor.test-kit.ts"
import {
  type ApproveCode,
  type CodeApprovalDecision,
  type CodeApprovalRequest,
  CodeExecutorAgent,
  type CodeExecutorAgentOptions,
} from "./index.ts"

function typesOf(messages: readonly ChatItem[]): string[] {
  return messages.map(({ type }) => type)
}

async function runWith(
  approve: ApproveCode,
  options: Partial<CodeExecutorAgentOptions> = {},
): Promise<TaskResult & { executor: FakeExecutor }> {
  const executor = new FakeExecutor("1\n")
  const agent = new CodeExecutorAgent({ name: "runner", codeExecutor: executor, approve, ...options })
  return { ...(await agent.run(python("print(1)"))), executor }
}

describe("the approval of code", () => {
  it("is asked for what will run, with its hash, its policy and what was said", async () => {
    const asked: CodeApprovalRequest[] = []
    const { executor, messages } = await runWith(async (request) => {
      asked.push(request)
      return { approved: true }
    })
    const [request] = asked
    expect(request).toMatchObject({
      agent: "runner",
      codeBlocks: [{ language: "python", code: "print(1)" }],
      code: "```python\nprint(1)\n```",
      sha256: createHash("sha256")
        .update('{"codeBlocks":[{"code":"print(1)","language":"python"}]}')
        .digest("hex"),
      retryAttempt: 0,
      messages: [{ type: "UserMessage", content: python("print(1)"), source: "user" }],
      policy: executor.policy,
    })
    expect(request?.id).toMatch(/^[\da-f-]{36}$/)
    expect(messages.at(-1)).toMatchObject({ content: "1" })
  })

  it("shows code in a fence that the code cannot close", async () => {
    let text = ""
    const code = "s = '''\n```\nrm -rf /\n'''"
    await new CodeExecutorAgent({
      name: "runner",
      codeExecutor: new FakeExecutor(),
      approve: (request) => {
        text = request.code
        return { approved: true }
      },
    }).run(`\`\`\`\`python\n${code}\n\`\`\`\``)
    expect(text).toBe(`\`\`\`\`python\n${code}\n\`\`\`\``)
  })

  it("comes before anything runs, and after it was told what is to run", async () => {
    const { promise, open } = gate()
    const executor = new FakeExecutor("1")
    const approve: ApproveCode = async () => {
      await promise
      return { approved: true }
    }
    const stream = new CodeExecutorAgent({ name: "runner", codeExecutor: executor, approve }).runStream(
      python("x"),
    )
    await stream.next()
    expect((await stream.next()).value).toMatchObject({ type: "CodeGenerationEvent" })
    const next = stream.next()
    expect(executor.ran).toEqual([])
    open()
    expect((await next).value).toMatchObject({ type: "CodeOutputEvent" })
    await stream.return(undefined as never)
  })

  it("that is denied ends the turn with its reason, and with no run", async () => {
    const { executor, messages } = await runWith(() => ({ approved: false, reason: "It deletes files." }))
    expect(executor.ran).toEqual([])
    expect(typesOf(messages)).toEqual(["TextMessage", "CodeGenerationEvent", "TextMessage"])
    expect(messages.at(-1)).toMatchObject({
      content: "The code was not approved, so it did not run. Do not try it again. Reason: It deletes files.",
      metadata: { approval: "denied" },
    })
  })

  it("that is denied is asked for once, however many retries there are", async () => {
    const modelClient = new ReplayChatCompletionClient([python("rm()"), "Fine."])
    let asked = 0
    const approve: ApproveCode = () => {
      asked += 1
      return { approved: false, reason: "No." }
    }
    const executor = new FakeExecutor()
    const agent = new CodeExecutorAgent({
      name: "coder",
      codeExecutor: executor,
      modelClient,
      approve,
      maxRetriesOnError: 5,
    })
    const { messages, usage } = await agent.run("Clean up.")
    expect([asked, executor.ran, modelClient.createCalls.length]).toEqual([1, [], 1])
    expect(messages.at(-1)).toMatchObject({ content: expect.stringContaining("Reason: No.") as string })
    expect(usage).toEqual(modelClient.totalUsage())
    await agent.run("What now?")
    expect(modelClient.createCalls[1]?.messages.at(-2)).toMatchObject({
      content: expect.stringContaining("not approved") as string,
    })
  })

  it("is asked for again when the code was corrected, with the attempt's number", async () => {
    const attempts: number[] = []
    const agent = new CodeExecutorAgent({
      name: "coder",
      codeExecutor: new FakeExecutor(failing("no"), "yes"),
      modelClient: new ReplayChatCompletionClient([python("a"), python("b"), "Done."]),
      maxRetriesOnError: 1,
      approve: ({ retryAttempt }) => {
        attempts.push(retryAttempt)
        return { approved: true }
      },
    })
    await agent.run("Go.")
    expect(attempts).toEqual([0, 1])
  })

  it.each<[string, unknown]>([
    ["nothing", undefined],
    ["true", true],
    ["a text", "yes"],
    ["something like a yes", { approved: "true" }],
    ["AutoGen's name for it", { approve: true }],
    ["an edit to nothing", { approved: true, codeBlocks: [] }],
    ["an edit that is none", { approved: true, codeBlocks: "print(2)" }],
    [
      "an edit with more than code",
      { approved: true, codeBlocks: [{ code: "x", language: "python", file: "/etc/x" }] },
    ],
    ["null as an edit", { approved: true, codeBlocks: null }],
  ])("is not given by %s", async (_name, decision) => {
    const { executor, messages } = await runWith(() => decision as CodeApprovalDecision)
    expect(executor.ran).toEqual([])
    expect(messages.at(-1)).toMatchObject({ metadata: { approval: "denied" } })
  })

  it("is not given by an approver that fails", async () => {
    const failure = (): never => {
      throw new Error("no screen")
    }
    for (const approve of [failure, async () => failure()]) {
      const { executor, messages } = await runWith(approve)
      expect(executor.ran).toEqual([])
      expect(messages.at(-1)).toMatchObject({ content: expect.stringContaining("no screen") as string })
    }
  })

  it("is not given by silence", async () => {
    let withdrawn = false
    const approve: ApproveCode = ({ signal }) => {
      signal.addEventListener("abort", () => {
        withdrawn = true
      })
      return new Promise(() => {})
    }
    const { executor, messages } = await runWith(approve, { approvalTimeout: 1 })
    expect([executor.ran, withdrawn]).toEqual([[], true])
    expect(messages.at(-1)).toMatchObject({
      content: expect.stringContaining("Nobody answered within 1ms.") as string,
    })
  })

  it("is withdrawn when the turn is aborted", async () => {
    const controller = new AbortController()
    const reason = new Error("enough")
    let seen: unknown
    const agent = new CodeExecutorAgent({
      name: "runner",
      codeExecutor: new FakeExecutor(),
      approve: ({ signal }) => {
        controller.abort(reason)
        seen = signal.reason
        return new Promise(() => {})
      },
    })
    await expect(agent.run(python("x"), { signal: controller.signal })).rejects.toBe(reason)
    expect(seen).toBe(reason)
  })

  it("can change the code: the changed code runs, is told, and is what the model hears of", async () => {
    const modelClient = new ReplayChatCompletionClient([python("print(1)"), "Done."])
    const executor = new FakeExecutor("2\n")
    const edited = [{ language: "python", code: "print(2)" }]
    const agent = new CodeExecutorAgent({
      name: "coder",
      codeExecutor: executor,
      modelClient,
      approve: () => ({ approved: true, codeBlocks: edited }),
    })
    const { messages } = await agent.run("Go.")
    expect(executor.ran).toEqual([edited])
    expect(typesOf(messages)).toEqual([
      "TextMessage",
      "CodeGenerationEvent",
      "CodeGenerationEvent",
      "CodeExecutionEvent",
      "TextMessage",
    ])
    expect(messages[2]).toMatchObject({ codeBlocks: edited, content: "```python\nprint(2)\n```" })
    expect(modelClient.createCalls[1]?.messages.slice(-3, -1)).toMatchObject([
      { content: expect.stringMatching(/^The code was changed before it ran.*print\(2\)\n```$/s) as string },
      { content: "2" },
    ])
  })

  it("runs what was asked for, whatever the approver does with the request", async () => {
    const { executor } = await runWith((request) => {
      expect(() => (request.codeBlocks as unknown[]).pop()).toThrow(TypeError)
      expect(() => Object.assign(request.codeBlocks[0] ?? {}, { code: "evil" })).toThrow(TypeError)
      return { approved: true }
    })
    expect(executor.ran).toEqual([[{ language: "python", code: "print(1)" }]])
  })
})
