import { existsSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { ClosureAgent, SingleThreadedAgentRuntime, agentId, defineMessage } from "../../core/index.ts"
import { BubblewrapCodeExecutor } from "../../executors/bubblewrap/index.ts"
import { DockerCommandLineCodeExecutor } from "../../executors/docker/index.ts"
import type { CodeExecutor } from "../../executors/index.ts"
import { DockerJupyterCodeExecutor } from "../../executors/jupyter/index.ts"
import { LocalCommandLineCodeExecutor } from "../../executors/local/index.ts"
import { WasmCodeExecutor } from "../../executors/wasm/index.ts"
import { codeExecutionTool } from "../../tools/code-execution/index.ts"
import { McpWorkbench } from "../../tools/mcp/index.ts"
import { type AccessDenial, type AccessRule, ToolAccess } from "./index.ts"

const Go = defineMessage("Go", z.object({}))
const BLOCK = { language: "python", code: "print(1)" }
// Nobody answers there: to be asked at all would be another error.
const NOWHERE = "unix:///nonexistent/docker.sock"

/** Runs code as the agent "coder" under these rules; gives what was denied. */
async function asCoder(rules: readonly AccessRule[], work: () => Promise<unknown>): Promise<AccessDenial[]> {
  const denials: AccessDenial[] = []
  const access = new ToolAccess({ rules, onDenial: (denial) => void denials.push(denial) })
  await using runtime = new SingleThreadedAgentRuntime({ access })
  const handle = async (): Promise<void> => void (await work())
  await runtime.register("coder", () => new ClosureAgent([Go], handle))
  runtime.start()
  await runtime.send(Go({}), agentId("coder"))
  return denials
}

const EXECUTORS: readonly (readonly [string, () => CodeExecutor])[] = [
  ["docker", () => new DockerCommandLineCodeExecutor({ dockerHost: NOWHERE })],
  ["jupyter", () => new DockerJupyterCodeExecutor({ dockerHost: NOWHERE })],
  ["bubblewrap", () => new BubblewrapCodeExecutor({ bwrapPath: "/nonexistent/bwrap" })],
  ["wasm", () => new WasmCodeExecutor({ pool: false })],
  ["local", () => new LocalCommandLineCodeExecutor({ dangerouslyRunOnHost: true })],
]

describe("executors under access rules", () => {
  it.each(EXECUTORS)("%s runs nothing for an agent that no rule lets", async (kind, make) => {
    await using executor = make()
    const rules = [{ agents: "coder", executors: `not_${kind}` }]
    const denials = await asCoder(rules, async () => {
      await expectFailure(executor.executeCodeBlocks([BLOCK]), "ACCESS_DENIED", new RegExp(`"${kind}"`))
      await expectFailure(executor.stream([BLOCK]).next(), "ACCESS_DENIED")
    })
    expect(denials).toMatchObject([
      {
        agent: "coder",
        kind: "executor",
        name: kind,
        policySha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      },
      { name: kind },
    ])
  })

  it("begins for an agent that a rule lets", async () => {
    await using executor = new BubblewrapCodeExecutor({ bwrapPath: "/nonexistent/bwrap" })
    const rules = [{ agents: "coder", executors: "bubblewrap", policy: "deny-all" }]
    const denials = await asCoder(rules, () =>
      expectFailure(executor.executeCodeBlocks([BLOCK]), "SANDBOX_UNAVAILABLE", /nonexistent/),
    )
    expect(denials).toEqual([])
  })

  it("does not run code on the host for a rule that wants a policy", async () => {
    const workDir = await mkdtemp(join(tmpdir(), "glovebox-access-"))
    try {
      await using executor = new LocalCommandLineCodeExecutor({ dangerouslyRunOnHost: true, workDir })
      const code = "touch ran"
      await asCoder([{ agents: "coder", executors: "*", policy: "deny-all" }], () =>
        expectFailure(
          executor.executeCodeBlocks([{ language: "sh", code }]),
          "ACCESS_DENIED",
          /exceeds \(host\)/,
        ),
      )
      expect(existsSync(join(workDir, "ran"))).toBe(false)
    } finally {
      await rm(workDir, { recursive: true })
    }
  })

  it.each([
    [
      "docker",
      (): CodeExecutor =>
        new DockerCommandLineCodeExecutor({
          dockerHost: NOWHERE,
          deviceRequests: [{ count: -1, capabilities: [["gpu"]] }],
        }),
    ],
    [
      "jupyter",
      (): CodeExecutor =>
        new DockerJupyterCodeExecutor({
          dockerHost: NOWHERE,
          deviceRequests: [{ count: -1, capabilities: [["gpu"]] }],
        }),
    ],
  ])("counts devices of %s as more than any policy", async (kind, make) => {
    await using executor = make()
    const policy = { limits: { wall: "10m", memory: "4GiB" } } as const
    await asCoder([{ agents: "coder", executors: kind, policy }], () =>
      expectFailure(executor.executeCodeBlocks([BLOCK]), "ACCESS_DENIED", /exceeds \(deviceRequests\)/),
    )
  })

  it("is not hidden by the tool that the code is run by", async () => {
    await using executor = new WasmCodeExecutor({ pool: false })
    const rules = [{ agents: "coder", tools: "execute_code" }]
    for (const errors of ["result", "fatal"] as const) {
      const run = codeExecutionTool({ executor, errors })
      await asCoder(rules, () => expectFailure(run.run({ code: "1" }), "ACCESS_DENIED", /executor "wasm"/))
    }
  })
})

describe("MCP servers under access rules", () => {
  it("are not started for a call that is denied", async () => {
    await using workbench = new McpWorkbench({ server: { command: "/nonexistent/server" } })
    await asCoder([{ agents: "coder", tools: "other" }], async () => {
      await expectFailure(workbench.callTool("read"), "ACCESS_DENIED", /tool "read"/)
      const { isError, result } = await workbench.callTool("other")
      expect(isError).toBe(true)
      expect(JSON.stringify(result)).toContain("/nonexistent/server")
    })
  })
})
