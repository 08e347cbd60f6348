import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { beforeAll, describe, expect, it } from "vitest"
import { HAS_NO_DOCKER } from "../executors/docker/docker-subject.test-kit.ts"
import type { CodeBlock } from "../executors/index.ts"
import { ReplayChatCompletionClient } from "../models/replay/index.ts"
import { codeExecutionTool } from "../tools/code-execution/index.ts"
import { SandboxHttpServer } from "../tools/mcp-server/index.ts"
import { call, resultsOf } from "./agents/assistant/assistant.test-kit.ts"
import { AssistantAgent, CodeExecutorAgent } from "./agents/index.ts"
import { WatchedDockerExecutor } from "./watched-docker.test-kit.ts"

// What a model might write to get another sandbox, in the words of policies, of options and of Docker.
const WISHES: Readonly<Record<string, unknown>> = {
  image: "python:3-slim",
  mounts: [{ source: "/", target: "/host", mode: "rw" }],
  volumes: ["/:/host"],
  network: { dangerously: "host" },
  user: "0:0",
  limits: { memory: "8GiB", wall: "24h", pids: 9999 },
  timeout: "24h",
  memory: "8GiB",
  capabilities: ["SYS_ADMIN"],
  readOnlyRoot: false,
  env: { WISH: "1" },
  runtime: "runsc",
  privileged: true,
  policy: { user: "0:0", env: { WISH: "1" } },
  sandbox: "local",
  dangerouslyRunOnHost: true,
  HostConfig: { Privileged: true, NetworkMode: "host" },
}

/** Tells in a line, without quotes, what the code sees of its wall. */
const PROBE = `
import os
caps = [line.split()[1] for line in open("/proc/self/status") if line.startswith("Cap")]
facts = [os.getuid(), os.getgid(), *os.listdir("/sys/class/net"), *caps, os.access("/", os.W_OK), os.path.exists("/host"), "WISH" in os.environ]
print("SEEN", *facts, "END")
`

const seenIn = (text: string): string | undefined => /SEEN .*? END/.exec(text)?.[0]

describe.skipIf(HAS_NO_DOCKER)("a model sets no image, mounts, network, user or limits", () => {
  let wall: { readonly sandbox: unknown; readonly seen: string | undefined }

  const block = (fields: object = {}): CodeBlock => ({ ...fields, language: "python", code: PROBE })

  beforeAll(async () => {
    await using executor = new WatchedDockerExecutor()
    const { output } = await executor.executeCodeBlocks([block()])
    wall = { sandbox: executor.sandboxes[0], seen: seenIn(output) }
  })

  it("as it stands without wishes", () => {
    expect(wall).toMatchObject({
      sandbox: { effective: { user: "65532:65532" } },
      seen: expect.stringMatching(/^SEEN 65532 65532 lo /) as string,
    })
  })

  it("by fields of a code block", async () => {
    await using executor = new WatchedDockerExecutor()
    const { output } = await executor.executeCodeBlocks([block(WISHES)])
    expect({ sandbox: executor.sandboxes[0], seen: seenIn(output) }).toEqual(wall)
  })

  it("by arguments of the code tool", async () => {
    await using executor = new WatchedDockerExecutor()
    const run = codeExecutionTool({ executor })
    expect(Object.keys(run.schema.parameters?.["properties"] ?? {})).toEqual(["code"])
    const modelClient = new ReplayChatCompletionClient([
      [call("execute_code", { ...WISHES, code: PROBE })],
      [call("execute_code", { code: PROBE, block: WISHES, options: WISHES, executor: WISHES })],
      "Well.",
    ])
    const assistant = new AssistantAgent({ name: "coder", tools: [run], modelClient })
    const results = resultsOf(await assistant.run("Go."))
    expect(results).toHaveLength(2)
    for (const [index, { content }] of results.entries()) {
      expect({ sandbox: executor.sandboxes[index], seen: seenIn(content) }).toEqual(wall)
    }
  })

  it("by fences, comments and names of files", async () => {
    const comments = Object.entries(WISHES).map(([name, value]) => `# ${name}: ${JSON.stringify(value)}`)
    const python = (info: string, ...lines: readonly string[]): string =>
      ["```python" + info, ...lines, PROBE, "```"].join("\n")
    for (const text of [
      python(` ${JSON.stringify(WISHES)}`),
      python(" image=alpine user=0:0 network=host"),
      python("", ...comments),
      python("", "# filename: run.py image=alpine user=0:0", ...comments),
      `---\n${comments.join("\n").replaceAll("# ", "")}\n---\n${python("")}`,
    ]) {
      // A new one each time: later calls of an executor have what its first one made.
      await using executor = new WatchedDockerExecutor()
      const { messages } = await new CodeExecutorAgent({ name: "runner", codeExecutor: executor }).run(text)
      const run = messages.find(({ type }) => type === "CodeExecutionEvent")
      expect({ sandbox: executor.sandboxes[0], seen: seenIn(JSON.stringify(run)) }).toEqual(wall)
    }
    for (const file of ["/etc/passwd", "../../escape.py", "/proc/self/attr/current"]) {
      await using executor = new WatchedDockerExecutor()
      const agent = new CodeExecutorAgent({ name: "runner", codeExecutor: executor })
      const { messages } = await agent.run(python("", `# filename: ${file}`))
      expect(messages.at(-1)).toMatchObject({ content: expect.stringMatching(/workspace|path/) as string })
      expect(executor.made).toBe(0)
    }
  })

  it("by arguments of the MCP server's tools", async () => {
    const executors: WatchedDockerExecutor[] = []
    const token = "0123456789abcdef0123"
    await using server = await SandboxHttpServer.start({
      version: "1",
      about: "A sandbox.",
      languages: ["python"],
      hasShell: true,
      lasting: "",
      port: 0,
      token,
      openExecutor: async ({ workDir }) => {
        const executor = new WatchedDockerExecutor({ workDir })
        executors.push(executor)
        return executor
      },
    })
    const client = new Client({ name: "test", version: "1" })
    const requestInit = { headers: { authorization: `Bearer ${token}` } }
    await client.connect(new StreamableHTTPClientTransport(new URL(server.url), { requestInit }))
    try {
      for (const [name, wish] of Object.entries(WISHES)) {
        for (const [tool, args] of Object.entries({
          run_code: { code: PROBE },
          run_shell: { command: "id" },
        })) {
          const answer = await client
            .callTool({ name: tool, arguments: { ...args, [name]: wish } })
            .catch((error: unknown) => ({ isError: true, content: String(error) }))
          expect(answer).toMatchObject({ isError: true })
          expect(JSON.stringify(answer.content)).toContain(name)
        }
      }
      expect(executors).toEqual([])
      // Beside the arguments it is nothing to anybody.
      const answer = await client.callTool({ name: "run_code", arguments: { code: PROBE }, _meta: WISHES })
      expect({
        sandbox: executors[0]?.sandboxes[0],
        seen: seenIn(JSON.stringify(answer.content)),
      }).toEqual(wall)
    } finally {
      await client.close()
    }
  })
})
