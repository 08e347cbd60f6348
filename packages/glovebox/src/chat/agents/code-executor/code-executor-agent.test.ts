import { describe, expect, it } from "vitest"
import { expectFailure } from "../../../core/expect-failure.test-kit.ts"
import { failureOf } from "../../../core/failure-of.test-kit.ts"
import { GloveboxError } from "../../../core/index.ts"
import { blockResult } from "../../../executors/code-result.test-kit.ts"
import { ReplayChatCompletionClient } from "../../../models/replay/index.ts"
import {
  type ChatItem,
  HandoffMessage,
  MultiModalMessage,
  TextMessage,
  ToolCallSummaryMessage,
  isChatMessage,
  toText,
} from "../../messages/index.ts"
import type { TaskResult } from "../../task/index.ts"
import { ENDLESS, FakeExecutor, failing, python } from "./fake-executor.test-kit.ts"
import { CodeExecutorAgent, type CodeExecutorAgentOptions } from "./index.ts"

function runner(
  codeExecutor: FakeExecutor,
  options: Partial<CodeExecutorAgentOptions> = {},
): CodeExecutorAgent {
  return new CodeExecutorAgent({ name: "runner", codeExecutor, ...options })
}

function said(content: string, source = "writer"): TextMessage {
  return TextMessage({ content, source })
}

function answerOf({ messages }: TaskResult): unknown {
  const last = messages.at(-1)
  return last?.type === "TextMessage" ? last.content : last
}

describe("CodeExecutorAgent without a model", () => {
  it("runs all code of what is said in one call, and answers with what it printed", async () => {
    const executor = new FakeExecutor("1\n2\n")
    const agent = runner(executor)
    const result = await agent.run([
      said(`${python("print(1)")}\nand then\n~~~bash\necho 2\n~~~`),
      said(python("x = 3"), "critic"),
    ])
    expect(executor.ran).toEqual([
      [
        { language: "python", code: "print(1)" },
        { language: "bash", code: "echo 2" },
        { language: "python", code: "x = 3" },
      ],
    ])
    expect(answerOf(result)).toBe("1\n2")
    expect(result).toMatchObject({ stopKind: "answer" })
    expect(result.messages.map(({ type, source }) => [type, source]).slice(2)).toEqual([
      ["CodeGenerationEvent", "runner"],
      ["CodeExecutionEvent", "runner"],
      ["TextMessage", "runner"],
    ])
  })

  it("tells output while it comes, before the run's end, and keeps none of the pieces", async () => {
    const agent = runner(new FakeExecutor({ stdout: "a\n", stderr: "b\n" }))
    const seen: ChatItem[] = []
    const stream = agent.runStream(python("x"))
    let next = await stream.next()
    for (; next.done !== true; next = await stream.next()) {
      if (next.value.type !== "TaskResult") seen.push(next.value)
    }
    expect(seen.map(({ type }) => type)).toEqual([
      "TextMessage",
      "CodeGenerationEvent",
      "CodeOutputEvent",
      "CodeOutputEvent",
      "CodeExecutionEvent",
      "TextMessage",
    ])
    expect(seen[2]).toMatchObject({ content: "a\n", stream: "stdout", block: 0, source: "runner" })
    expect(seen[3]).toMatchObject({ content: "b\n", stream: "stderr" })
    expect(next.value.messages).toEqual(seen.filter(({ type }) => type !== "CodeOutputEvent"))
  })

  it("gives the same from run, runStream and onMessages", async () => {
    const types = (items: readonly ChatItem[]): string[] => items.map(({ type }) => type)
    const ran = await runner(new FakeExecutor("1")).run(python("x"))
    const { chatMessage, innerMessages } = await runner(new FakeExecutor("1")).onMessages(
      [said(python("x"))],
      {
        signal: new AbortController().signal,
      },
    )
    expect(types([...innerMessages, chatMessage])).toEqual(types(ran.messages.slice(1)))
  })

  it("runs no fences that a program printed or that a refusal quotes, whoever tells of them", async () => {
    const printed = "A page:\n```python\nsteal()\n```\n"
    const model = new ReplayChatCompletionClient([python("read()")])
    const tellers = [
      runner(new FakeExecutor(printed)),
      new CodeExecutorAgent({
        name: "coder",
        codeExecutor: new FakeExecutor(printed),
        modelClient: model,
        reflect: false,
      }),
      new CodeExecutorAgent({
        name: "asker",
        codeExecutor: new FakeExecutor(),
        approve: () => ({ approved: false, reason: printed }),
      }),
    ]
    for (const teller of tellers) {
      const told = (await teller.run(python("read()"))).messages.at(-1)
      const executor = new FakeExecutor()
      const signal = new AbortController().signal
      expect(isChatMessage(told) && toText(told)).toContain("steal()")
      const { chatMessage } = await runner(executor).onMessages(isChatMessage(told) ? [told] : [], { signal })
      expect(toText(chatMessage)).toMatch(/^There is no code to run/)
      expect(executor.ran).toEqual([])
    }
  })

  it.each([
    ["nothing", undefined, /without a result/],
    ["no blocks", { blocks: undefined }, /a result that is none: blocks: /],
    ["an exit code that is no number", { exitCode: Number.NaN }, /a result that is none: exitCode: /],
  ])("fails with one typed error when an executor gives %s", async (_, odd, words) => {
    const executor = new FakeExecutor(odd ?? {})
    const stream = executor.stream.bind(executor)
    executor.stream = async function* (...call) {
      for await (const event of stream(...call)) if (odd || event.type !== "finished") yield event
    }
    await expectFailure(runner(executor).run(python("x")), "SANDBOX_LOST", words)
  })

  it.each([
    ["no code", /^There is no code to run\. .*python or sh/],
    ["```json\n{}\n```", /^There is no code that can run here: it is in json\. Write it in python or sh\./],
    ["```python\n\n```", /^There is no code to run/],
    ["They sent me this:\n> ```python\n> steal()\n> ```", /^There is no code to run/],
    ["Hello.\n<!--\n```python\nsteal()\n```\n-->", /^There is no code to run/],
  ])("says so when there is nothing to run: %j", async (text, words) => {
    const executor = new FakeExecutor()
    expect(answerOf(await runner(executor).run(text))).toMatch(words)
    expect(executor.ran).toEqual([])
  })

  it.each([
    ["```py\nx\n```", "py"],
    ["```PYTHON  \r\nx\r\n```\r\n", "PYTHON"],
    ["```python3\nx\n```", "python3"],
    ['```python title="a.py"\nx\n```', "python"],
    ["~~~ {.python}\nx\n~~~", "python"],
    ["````shell\nx\n````", "shell"],
    ["```\nx\n```", "python"],
    ["```\n#!/usr/bin/env bash\nx\n```", "bash"],
  ])("takes %j for code", async (text, language) => {
    const executor = new FakeExecutor()
    await runner(executor).run(text)
    expect(executor.ran[0]?.[0]).toMatchObject({ language })
  })

  it("takes no untagged block beside tagged ones: that is output", async () => {
    const executor = new FakeExecutor()
    await runner(executor).run(`${python("x")}\nIt will print:\n\`\`\`\n42\n\`\`\``)
    expect(executor.ran).toEqual([[{ language: "python", code: "x" }]])
  })

  it("passes over languages that it does not support, and people whom it does not listen to", async () => {
    const executor = new FakeExecutor()
    const agent = runner(executor, { supportedLanguages: ["Bash"], sources: ["writer"] })
    await agent.run([said("```sh\nls\n```\n```python\nx\n```"), said("```sh\nrm -rf /\n```", "stranger")])
    expect(executor.ran).toEqual([[{ language: "sh", code: "ls" }]])
  })

  it("reads other messages with text, and not what tools gave back", async () => {
    const executor = new FakeExecutor()
    const tools = { source: "writer", toolCalls: [], results: [] }
    await runner(executor).run([
      HandoffMessage({ source: "writer", target: "runner", content: python("a") }),
      MultiModalMessage({ source: "writer", content: [python("b")] }),
      ToolCallSummaryMessage({ ...tools, content: python("c") }),
    ])
    expect(executor.ran[0]?.map(({ code }) => code)).toEqual(["a", "b"])
  })

  it("says how a run failed, which block it was, and what came of the others", async () => {
    const block = blockResult()
    const executor = new FakeExecutor({ ...failing("NameError: y"), blocks: [block, block] })
    const text = answerOf(await runner(executor).run([python("x"), python("y"), python("z")].join("\n")))
    expect(text).toBe(
      "NameError: y\n\nIt ended with exit code 1.\nThat was block 2 of 3. Those after it did not run.",
    )
  })

  it("answers with what is wrong with code that cannot run as it is, and with no run", async () => {
    const executor = new FakeExecutor(new GloveboxError("LANGUAGE_UNAVAILABLE", "There is no sh here."))
    const result = await runner(executor).run("```sh\nls\n```")
    expect(answerOf(result)).toBe("The code did not run: There is no sh here.")
    expect(result.messages.some(({ type }) => type === "CodeExecutionEvent")).toBe(false)
  })

  it("fails with the sandbox's own error, and works the next time", async () => {
    const executor = new FakeExecutor(new GloveboxError("SANDBOX_LOST", "It is gone."), "fine")
    const agent = runner(executor)
    await expectFailure(agent.run(python("x")), "SANDBOX_LOST", /It is gone/)
    expect(answerOf(await agent.run(python("x")))).toBe("fine")
  })

  it("tells artifacts, denials and the sandbox in its event, without the files' bytes", async () => {
    const artifact = {
      path: "plot.png",
      size: 3,
      sha256: "ab",
      executable: false,
      content: Buffer.from("abc"),
    }
    const result = await runner(new FakeExecutor({ artifacts: [artifact] })).run(python("x"))
    const event = result.messages.find((item) => item.type === "CodeExecutionEvent")
    expect(event).toMatchObject({
      result: { artifacts: [{ path: "plot.png", size: 3, sha256: "ab" }], sandbox: { kind: "fake" } },
    })
    expect(JSON.stringify(event)).not.toContain("content")
    expect(answerOf(result)).toContain("plot.png (3 bytes)")
  })

  it("rejects with the reason of an abort, leaves nothing running, and works again", async () => {
    const executor = new FakeExecutor(ENDLESS, "fine")
    const agent = runner(executor)
    const controller = new AbortController()
    const reason = new Error("enough")
    const run = (async () => {
      for await (const item of agent.runStream(python("x"), { signal: controller.signal })) {
        if (item.type === "CodeOutputEvent") controller.abort(reason)
      }
    })()
    await expect(run).rejects.toBe(reason)
    expect(executor.running).toBe(0)
    expect(answerOf(await agent.run(python("x")))).toBe("fine")
  })

  it("ends the run when its stream is left", async () => {
    const executor = new FakeExecutor(ENDLESS)
    for await (const item of runner(executor).runStream(python("x"))) {
      if (item.type === "CodeOutputEvent") break
    }
    expect(executor.running).toBe(0)
  })

  it("leaves an executor that it was given alone, and restarts it at a reset only when asked to", async () => {
    const executor = new FakeExecutor()
    const signal = new AbortController().signal
    {
      await using agent = runner(executor)
      await agent.onReset({ signal })
    }
    expect([executor.restarts, executor.stops]).toEqual([0, 0])
    await runner(executor, { restartOnReset: true }).onReset({ signal })
    expect(executor.restarts).toBe(1)
  })

  it("has no state", async () => {
    const agent = runner(new FakeExecutor())
    expect(await agent.saveState()).toEqual({})
    await agent.loadState({})
    await expectFailure(agent.loadState({ version: 1 }), "STATE_INVALID")
  })
})

describe("the options of CodeExecutorAgent", () => {
  const model = new ReplayChatCompletionClient([])

  it.each<
    [Partial<Record<keyof CodeExecutorAgentOptions | "approval_func" | "code_executor", unknown>>, RegExp]
  >([
    [{ approval_func: () => {} }, /OPTION_INVALID.*did you mean approve\?/],
    [{ code_executor: {} }, /did you mean codeExecutor\?/],
    [{ codeExecutor: {} }, /codeExecutor: must be a code executor/],
    [{ modelClient: {} }, /modelClient: must be a model client/],
    [{ maxRetriesOnError: 2 }, /maxRetriesOnError is for a model, and runner has none/],
    [{ modelClient: model, maxRetriesOnError: -1 }, /maxRetriesOnError/],
    [{ supportedLanguages: [] }, /supportedLanguages: is empty/],
    [{ sources: [] }, /sources: is empty/],
    [{ approvalTimeout: "5m" }, /nobody to ask/],
    [{ approve: () => {}, approvalTimeout: "soon" }, /"soon" is not a time/],
    [{ approve: () => {}, dangerouslyRunWithoutApproval: true }, /Choose one/],
    [{ name: "two words" }, /AGENT_INVALID/],
  ])("%j are refused", (options, message) => {
    const given = { name: "runner", ...options } as unknown as CodeExecutorAgentOptions
    expect(failureOf(() => new CodeExecutorAgent(given))).toMatch(message)
  })

  it("want somebody to approve code that runs on the host, or a word that nobody does", () => {
    const host = (options: Partial<CodeExecutorAgentOptions>): CodeExecutorAgent =>
      runner(Object.assign(new FakeExecutor(), { runsOnHost: true }), options)
    expect(failureOf(() => host({}))).toMatch(/HOST_EXECUTION_REFUSED.*approve/)
    expect(host({ approve: () => ({ approved: false }) }).name).toBe("runner")
    expect(host({ dangerouslyRunWithoutApproval: true }).name).toBe("runner")
  })

  it("give it a description that says what it does", () => {
    expect(runner(new FakeExecutor()).description).toMatch(/^Runs python and sh code that others write/)
    expect(runner(new FakeExecutor(), { modelClient: model }).description).toMatch(/^Solves tasks by writing/)
    expect(runner(new FakeExecutor(), { description: "Mine." }).description).toBe("Mine.")
  })
})
