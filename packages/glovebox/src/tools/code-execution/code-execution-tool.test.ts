import { describe, expect, it } from "vitest"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import type {
  BlockResult,
  CodeBlock,
  CodeExecutor,
  CodeResult,
  ExecutionEvent,
} from "../../executors/index.ts"
import { codeResult } from "../../executors/code-result.test-kit.ts"
import { SandboxPolicy } from "../../policy/index.ts"
import { toolResultText } from "../index.ts"
import { codeExecutionTool } from "./index.ts"

const PNG = Buffer.from("89504E470D0A1A0A0000", "hex")

/** An executor whose runs have this end. */
function ending(
  change: Partial<CodeResult>,
  seen: CodeBlock[] = [],
): CodeExecutor & { policy: SandboxPolicy } {
  const result = codeResult({ output: "42\n", stdout: "42\n", ...change })
  return {
    policy: new SandboxPolicy({ limits: { wall: "10s", memory: "64MiB" } }),
    start: async () => {},
    stop: async () => {},
    restart: async () => {},
    executeCodeBlocks: async () => result,
    async *stream(blocks): AsyncGenerator<ExecutionEvent, void, undefined> {
      seen.push(...blocks)
      yield { type: "stdout", block: 0, text: result.stdout, bytes: Buffer.from(result.stdout) }
      yield { type: "finished", result }
    },
    [Symbol.asyncDispose]: async () => {},
  }
}

async function textOf(change: Partial<CodeResult>): Promise<string> {
  return toolResultText(await codeExecutionTool({ executor: ending(change) }).run({ code: "x" }))
}

describe("codeExecutionTool", () => {
  it("asks for code alone when there is one language, and for the language when there are more", async () => {
    const seen: CodeBlock[] = []
    const one = codeExecutionTool({ executor: ending({}, seen) })
    expect(one.schema.parameters).toMatchObject({ required: ["code"] })
    expect(one.schema.parameters?.["properties"]).not.toHaveProperty("language")
    await one.run({ code: "print(42)" })
    const two = codeExecutionTool({ executor: ending({}, seen), languages: ["python", "sh"], name: "run" })
    expect(two.name).toBe("run")
    await two.run({ code: "ls", language: "sh" })
    expect(await two.run({ code: "ls", language: "perl" })).toMatchObject({ isError: true })
    expect(seen).toEqual([
      { code: "print(42)", language: "python" },
      { code: "ls", language: "sh" },
    ])
  })

  it.each<[string, object, RegExp]>([
    ["no executor", {}, /executor/],
    ["no language", { executor: ending({}), languages: [] }, /languages: is empty/],
    ["an option that is none", { executor: ending({}), language: "sh" }, /language/],
    ["a name that is none", { executor: ending({}), name: "run code" }, /no name for a tool/],
  ])("refuses %s", (_, options, problem) => {
    expect(failureOf(() => codeExecutionTool(options as never))).toMatch(problem)
  })

  it("streams what the code prints, and the result last", async () => {
    const items = []
    for await (const item of codeExecutionTool({ executor: ending({}) }).stream({ code: "x" }))
      items.push(item)
    expect(items).toMatchObject([
      { type: "ToolChunk", content: { content: "42\n" } },
      { type: "ToolResult", isError: false, result: [{ content: "42" }] },
    ])
  })

  it("gives images that the code made, once each", async () => {
    const artifact = { path: "plot.png", size: 10, sha256: "", executable: false, content: PNG }
    const shown = { type: "png", mime: "image/png", data: PNG, display: 1, artifact: "plot.png" } as const
    const executor = ending({ artifacts: [artifact], outputs: [shown] })
    const result = await codeExecutionTool({ executor }).run({ code: "x" })
    expect(result.result.map(({ type }) => type)).toEqual(["TextResultContent", "ImageResultContent"])
    expect(toolResultText(result)).toContain("Files made or changed: plot.png (10 bytes).")
  })

  it.each<[string, Partial<CodeResult>, string]>([
    ["nothing printed", { output: "" }, "It ended well and printed nothing."],
    ["an exit code", { exitCode: 3, output: "no\n" }, "no\n\nIt ended with exit code 3."],
    [
      "a timeout",
      { exitCode: 124, termination: "timeout", output: "" },
      "it may run for 10s. Do less at a time",
    ],
    ["memory", { exitCode: 137, termination: "oom" }, "want of memory: it has 64MiB"],
    ["processes", { exitCode: 1, termination: "process-limit" }, "it may have 128 at a time"],
    ["the disk", { exitCode: 1, termination: "disk-full" }, "It filled its disk: it has 256MiB"],
    ["too much output", { exitCode: 137, termination: "output-limit" }, "Write to a file instead"],
    ["a cut", { truncated: true }, "The middle of the output was left out"],
    [
      "lost variables",
      { stateLost: true, stateLostBecause: "It was killed." },
      "Variables are gone: It was killed.",
    ],
    ["files left out", { artifactsTruncated: true }, "Some files were too many or too large to be kept."],
  ])("tells of %s", async (_, change, text) => {
    expect(await textOf(change)).toContain(text)
  })

  it("tells of a signal and of a limit that the code survived", async () => {
    const block = { signal: "SIGSEGV", limitsHit: ["memory"] } as unknown as BlockResult
    expect(await textOf({ exitCode: 139, termination: "signal", blocks: [block] })).toContain(
      "ended by SIGSEGV",
    )
    expect(await textOf({ blocks: [block] })).toContain("It ran into a limit: it has 64MiB.")
  })

  it("tells what was denied and what to do instead, each once", async () => {
    const denial = {
      code: "NOT_ALLOWED",
      rule: undefined,
      resource: "evil.example:443",
      message: "evil.example:443 is not on the allow-list.",
      suggestion: "Use api.example.com.",
    } as const
    const connection = {
      id: 1,
      via: "connect",
      host: "evil.example",
      port: 443,
      verdict: "denied",
      denial,
      bytesUp: 0,
      bytesDown: 0,
      durationMs: 0,
    } as const
    const text = await textOf({ egress: [connection, { ...connection, id: 2 }] })
    expect(
      text.match(/Denied: evil\.example:443 is not on the allow-list\. Use api\.example\.com\./g),
    ).toHaveLength(1)
  })
})
