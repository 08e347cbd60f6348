import { describe, expect, it } from "vitest"
import { SingleThreadedAgentRuntime } from "../core/index.ts"
import { HAS_NO_DOCKER } from "../executors/docker/docker-subject.test-kit.ts"
import type { CodeExecutor } from "../executors/index.ts"
import { type AccessDenial, ToolAccess } from "../governance/index.ts"
import { python } from "./agents/code-executor/fake-executor.test-kit.ts"
import { CodeExecutorAgent } from "./agents/index.ts"
import { RoundRobinGroupChat } from "./teams/index.ts"
import { WatchedDockerExecutor } from "./watched-docker.test-kit.ts"

describe.skipIf(HAS_NO_DOCKER)("tool access of executors in a team", () => {
  it("runs code in sandboxes that a rule allows, and makes none of another", async () => {
    const denials: AccessDenial[] = []
    const access = new ToolAccess({
      rules: [{ agents: "runner", executors: "docker", policy: { runtime: "runc" } }],
      onDenial: (denial) => void denials.push(denial),
    })
    await using runtime = new SingleThreadedAgentRuntime({ access })
    runtime.start()
    const turn = async (name: string, codeExecutor: CodeExecutor): Promise<unknown> => {
      const participants = [new CodeExecutorAgent({ name, codeExecutor })]
      await using team = new RoundRobinGroupChat({ participants, maxTurns: 1, runtime })
      const { messages } = await team.run(python("print(6 * 7)"))
      return messages.at(-1)
    }
    await using narrow = new WatchedDockerExecutor()
    await using wide = new WatchedDockerExecutor({ policy: { limits: { memory: "1GiB" } } })
    expect(await turn("runner", narrow)).toMatchObject({ content: "42" })
    for (const [name, executor] of [
      ["runner", wide],
      ["other", narrow],
    ] as const) {
      await expect(turn(name, executor)).rejects.toMatchObject({
        code: "AGENT_FAILED",
        cause: { code: "ACCESS_DENIED" },
      })
    }
    expect([narrow.made, wide.made]).toEqual([1, 0])
    expect(denials).toMatchObject([
      {
        agent: "runner",
        name: "docker",
        policySha256: wide.policy.sha256,
        message: expect.stringContaining("(limits.memory)") as string,
      },
      { agent: "other", name: "docker" },
    ])
  })
})
