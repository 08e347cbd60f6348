import { afterEach, describe, expect, it, vi } from "vitest"
import { containersOf } from "../../../cli/glovebox.test-kit.ts"
import { HAS_NO_DOCKER, docker } from "../../../executors/docker/docker-subject.test-kit.ts"
import type { CodeExecutor } from "../../../executors/index.ts"
import { LocalCommandLineCodeExecutor } from "../../../executors/local/index.ts"
import { WasmCodeExecutor } from "../../../executors/wasm/index.ts"
import { children } from "../../../executors/wasm/wasm-children.test-kit.ts"
import { failureOf } from "../../../core/failure-of.test-kit.ts"
import { createExecutor } from "../../../executors/index.ts"
import { ReplayChatCompletionClient } from "../../../models/replay/index.ts"
import type { ChatItem } from "../../messages/index.ts"
import { python } from "./fake-executor.test-kit.ts"
import { CodeExecutorAgent } from "./index.ts"

interface Kind {
  readonly name: string
  readonly create: (timeout?: string) => CodeExecutor
  /** What is there of its sandboxes. */
  readonly sandboxes: () => Promise<readonly unknown[]>
}

const WASM: Kind = {
  name: "wasm",
  create: (timeout = "60s") => new WasmCodeExecutor({ pool: false, timeout }),
  sandboxes: children,
}

const DOCKER: Kind = {
  name: "docker",
  create: (timeout = "60s") => docker({ pool: false, timeout }),
  sandboxes: async () => containersOf(process.pid),
}

afterEach(() => vi.unstubAllEnvs())

function executionsIn(messages: readonly ChatItem[]): Extract<ChatItem, { type: "CodeExecutionEvent" }>[] {
  return messages.filter((item) => item.type === "CodeExecutionEvent")
}

describe("CodeExecutorAgent in the embedded sandbox", () => {
  testsIn(WASM)
})

describe.skipIf(HAS_NO_DOCKER)("CodeExecutorAgent in a container", () => {
  testsIn(DOCKER)
})

function testsIn({ name, create, sandboxes }: Kind): void {
  it("has its model correct code that failed, and says what came of it", async () => {
    await using codeExecutor = create()
    const modelClient = new ReplayChatCompletionClient([
      python("print(totl)"),
      (messages) => {
        expect(messages.at(-2)?.content).toMatch(/NameError.*totl.*exit code 1/s)
        return python("total = sum(range(10))\nprint(total)")
      },
      (messages) => `It is ${JSON.stringify(messages.at(-2)?.content)}.`,
    ])
    const coder = new CodeExecutorAgent({ name: "coder", codeExecutor, modelClient, maxRetriesOnError: 1 })
    const { messages, usage } = await coder.run("Add the numbers below ten.")
    expect(messages.at(-1)).toMatchObject({ content: 'It is "45".' })
    expect(executionsIn(messages)).toMatchObject([
      { retryAttempt: 0, result: { exitCode: 1, sandbox: { kind: name } } },
      { retryAttempt: 1, result: { exitCode: 0, output: "45\n" } },
    ])
    expect(usage).toEqual(modelClient.totalUsage())
  })

  it("tells files that code makes, and finds them in the next turn", async () => {
    await using codeExecutor = create()
    const runner = new CodeExecutorAgent({ name: "runner", codeExecutor })
    const { messages } = await runner.run(python("open('out.txt', 'w').write('hello')"))
    expect(executionsIn(messages)[0]?.result.artifacts).toMatchObject([{ path: "out.txt", size: 5 }])
    expect(messages.at(-1)).toMatchObject({ content: expect.stringContaining("out.txt (5 bytes)") as string })
    const next = await runner.run(python("print(open('out.txt').read())"))
    expect(next.messages.at(-1)).toMatchObject({ content: "hello" })
  })

  it("tells of code that took too long, with what it had printed", async () => {
    await using codeExecutor = create("2s")
    const runner = new CodeExecutorAgent({ name: "runner", codeExecutor })
    const { messages } = await runner.run(python("print('begun', flush=True)\nwhile True: pass"))
    expect(executionsIn(messages)[0]?.result).toMatchObject({
      termination: "timeout",
      exitCode: 124,
      output: "begun\n",
    })
    expect(messages.at(-1)).toMatchObject({
      content: expect.stringMatching(/begun.*too long.*2s/s) as string,
    })
  })

  it("shows output while code runs, ends it in the middle, leaves nothing, and works again", async () => {
    const before = await sandboxes()
    await using codeExecutor = create()
    const runner = new CodeExecutorAgent({ name: "runner", codeExecutor })
    const controller = new AbortController()
    const reason = new Error("enough")
    const run = (async () => {
      for await (const item of runner.runStream(
        python("print('begun', flush=True)\nwhile True: pass"),
        controller,
      )) {
        if (item.type === "CodeOutputEvent" && item.content === "begun\n") controller.abort(reason)
      }
    })()
    await expect(run).rejects.toBe(reason)
    await vi.waitFor(async () => expect(await sandboxes()).toEqual(before), { timeout: 10_000 })
    expect((await runner.run(python("print(1)"))).messages.at(-1)).toMatchObject({ content: "1" })
  })

  it("runs nothing that is denied, and starts no sandbox for it", async () => {
    const before = await sandboxes()
    await using codeExecutor = create()
    const runner = new CodeExecutorAgent({
      name: "runner",
      codeExecutor,
      approve: ({ policy }) => ({
        approved: false,
        reason: `Not with ${policy?.fields.limits.memory} bytes.`,
      }),
    })
    const { messages } = await runner.run(python("print(1)"))
    expect(messages.at(-1)).toMatchObject({
      content: expect.stringContaining("Not with 536870912 bytes.") as string,
    })
    expect(executionsIn(messages)).toEqual([])
    expect(await sandboxes()).toEqual(before)
  })
}

describe("CodeExecutorAgent with an executor of its own", () => {
  it("makes it when it is needed, never on the host, forgets its files at a reset, and ends it", async () => {
    vi.stubEnv("DOCKER_HOST", "unix:///nonexistent/docker.sock")
    const before = await children()
    const runner = new CodeExecutorAgent({ name: "runner" })
    expect(await children()).toEqual(before)
    const { messages } = await runner.run(python("open('kept', 'w').write('x')"))
    expect(executionsIn(messages)[0]?.result.sandbox.kind).toBe("wasm")
    const look = python("import os\nprint(os.path.exists('kept'))")
    expect((await runner.run(look)).messages.at(-1)).toMatchObject({ content: "True" })
    await runner.onReset({ signal: new AbortController().signal })
    expect((await runner.run(look)).messages.at(-1)).toMatchObject({ content: "False" })
    // Whoever asks while it ends already waits for that end too.
    const ended: string[] = []
    const first = runner.close().then(() => ended.push("first"))
    await runner.close()
    ended.push("second")
    expect(ended).toEqual(["first", "second"])
    await first
    expect(await children()).toEqual(before)
    await using again = runner
    expect((await again.run(python("print(1)"))).messages.at(-1)).toMatchObject({ content: "1" })
  })

  it("ends a run when it is closed", async () => {
    vi.stubEnv("DOCKER_HOST", "unix:///nonexistent/docker.sock")
    const before = await children()
    const runner = new CodeExecutorAgent({ name: "runner" })
    const run = (async () => {
      for await (const item of runner.runStream(python("print(1, flush=True)\nwhile True: pass"))) {
        if (item.type === "CodeOutputEvent") void runner.close()
      }
    })()
    await expect(run).rejects.toMatchObject({ code: "EXECUTOR_STOPPED" })
    await runner.close()
    expect(await children()).toEqual(before)
  })
})

describe("CodeExecutorAgent with an executor on the host", () => {
  it("wants somebody to approve the code, however the executor was made", async () => {
    await using local = new LocalCommandLineCodeExecutor({ dangerouslyRunOnHost: true })
    await using chosen = await createExecutor({ sandbox: "local", dangerouslyRunOnHost: true })
    for (const codeExecutor of [local, chosen]) {
      expect(failureOf(() => new CodeExecutorAgent({ name: "runner", codeExecutor }))).toMatch(
        /HOST_EXECUTION_REFUSED/,
      )
    }
    const approve = (): { approved: true } => ({ approved: true })
    const runner = new CodeExecutorAgent({ name: "runner", codeExecutor: local, approve })
    expect((await runner.run("```sh\necho $((6 * 7))\n```")).messages.at(-1)).toMatchObject({ content: "42" })
  })
})
