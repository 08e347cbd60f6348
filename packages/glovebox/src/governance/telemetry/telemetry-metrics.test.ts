import { expect, it } from "vitest"
import { GloveboxError } from "../../core/index.ts"
import { codeResult } from "../../executors/code-result.test-kit.ts"
import type { PoolState } from "../../executors/index.ts"
import { errorResult } from "../../tools/tool-result.ts"
import { ApprovalError } from "../index.ts"
import { answer, approvalRequest, connection, listening } from "./telemetry.test-kit.ts"

const agent = "coder"
const blocks = [{ code: "print(1)", language: "python" }]
const chat = {
  "gen_ai.operation.name": "chat",
  "gen_ai.provider.name": "openai",
  "gen_ai.request.model": "gpt-5",
}

it("measures calls of models, and their tokens", async () => {
  const { telemetry, metric } = listening()
  const model = { agent, model: "gpt-5", provider: "openai" }
  telemetry.modelCall(model).end(answer())
  telemetry.modelCall(model).end(answer({ cached: true }))
  telemetry.modelCall(model).fail(new GloveboxError("MODEL_TIMEOUT", "Too late."))
  const duration = await metric("gen_ai.client.operation.duration")
  expect(duration.unit).toBe("s")
  expect(duration.points).toMatchObject([
    { attributes: chat, value: { count: 2, buckets: { boundaries: expect.arrayContaining([0.01, 81.92]) } } },
    { attributes: { ...chat, "error.type": "MODEL_TIMEOUT" }, value: { count: 1 } },
  ])
  const tokens = await metric("gen_ai.client.token.usage")
  expect(tokens.unit).toBe("{token}")
  expect(tokens.points).toMatchObject([
    { attributes: { ...chat, "gen_ai.token.type": "input" }, value: { count: 1, sum: 12 } },
    { attributes: { ...chat, "gen_ai.token.type": "output" }, value: { count: 1, sum: 3 } },
  ])
})

it("measures turns of agents, and calls of tools", async () => {
  const { telemetry, metric } = listening()
  telemetry.invokeAgent({ agent }).end({})
  telemetry.toolCall({ agent, tool: "add" }).end(errorResult("add", "no"))
  const turns = await metric("gen_ai.invoke_agent.duration")
  expect(turns.points).toMatchObject([{ attributes: { "gen_ai.agent.name": agent }, value: { count: 1 } }])
  const attributes = {
    "gen_ai.tool.name": "add",
    "gen_ai.tool.type": "function",
    "gen_ai.agent.name": agent,
    "error.type": "tool_error",
  }
  expect((await metric("glovebox.tool.calls")).points).toEqual([{ attributes, value: 1 }])
  const durations = await metric("gen_ai.execute_tool.duration")
  expect(durations.points).toMatchObject([{ attributes, value: { count: 1 } }])
})

it("counts runs of code by how they ended, and the sandboxes that they got", async () => {
  const { telemetry, metric } = listening()
  const sandbox = { kind: "docker", policySha256: "", isolation: "run", effective: {} } as const
  const run = { agent, blocks }
  telemetry.codeRun(run).end(codeResult({ sandbox: { ...sandbox, pooled: true } }))
  telemetry.codeRun(run).end(codeResult({ sandbox: { ...sandbox, pooled: false } }))
  const timeout = { exitCode: 124, termination: "timeout" } as const
  telemetry
    .codeRun(run)
    .end(codeResult({ ...timeout, sandbox: { ...sandbox, isolation: "session", pooled: true } }))
  telemetry.codeRun({ ...run, executor: "mine" }).fail(new GloveboxError("ENGINE_UNAVAILABLE", "Gone."))
  telemetry.codeRun(run).fail(new ApprovalError("APPROVAL_PENDING", "1", "Not yet."))
  const ended = (executor: string, termination: string, type?: string): object => ({
    "glovebox.executor": executor,
    "glovebox.code.termination": termination,
    ...(type === undefined ? {} : { "error.type": type }),
  })
  expect((await metric("glovebox.code.runs")).points).toEqual([
    { attributes: ended("docker", "exit"), value: 2 },
    { attributes: ended("docker", "timeout", "timeout"), value: 1 },
    { attributes: ended("mine", "none", "ENGINE_UNAVAILABLE"), value: 1 },
  ])
  expect((await metric("glovebox.code.duration")).points).toHaveLength(3)
  const start = (pooled: boolean): object => ({
    attributes: { "glovebox.executor": "docker", "glovebox.sandbox.pooled": pooled },
    value: 1,
  })
  expect((await metric("glovebox.sandbox.starts")).points).toEqual([start(true), start(false)])
})

it("counts approvals, and measures how long they were waited for", async () => {
  const { telemetry, metric } = listening()
  telemetry
    .approval(approvalRequest({ created: Date.now() - 90_000 }))
    .end({ decision: "approved", by: "ada" })
  telemetry.approval(approvalRequest()).fail(new ApprovalError("APPROVAL_PENDING", "1", "Not yet."))
  // A clock that was set back.
  telemetry.approval(approvalRequest({ created: Date.now() + 90_000 })).end({ decision: "denied" })
  const told = (decision: string): object => ({
    "gen_ai.agent.name": agent,
    "glovebox.approval.kind": "code",
    "glovebox.approval.decision": decision,
  })
  expect((await metric("glovebox.approvals")).points).toEqual(
    ["approved", "pending", "denied"].map((decision) => ({ attributes: told(decision), value: 1 })),
  )
  const { points } = await metric("glovebox.approval.duration")
  expect(points).toMatchObject([
    { attributes: told("approved"), value: { count: 1, sum: expect.closeTo(90, 0) } },
    { attributes: told("denied"), value: { count: 1, min: expect.closeTo(0, 0) } },
  ])
})

it("counts denials by who said no, and of what, but not the hosts that programs make up", async () => {
  const { telemetry, metric } = listening()
  telemetry.denied({ agent, kind: "access", name: "shell" })
  telemetry.denied({ agent, kind: "egress", name: "a.example" })
  telemetry.denied({ agent, kind: "egress", name: "b.example" })
  const denial = { "gen_ai.agent.name": agent, "glovebox.denial.kind": "egress" }
  expect((await metric("glovebox.denials")).points).toEqual([
    {
      attributes: { ...denial, "glovebox.denial.kind": "access", "glovebox.denial.name": "shell" },
      value: 1,
    },
    { attributes: denial, value: 2 },
  ])
})

it("counts connections and bytes, also without spans", async () => {
  const { telemetry, metric } = listening({ tracerProvider: null })
  const open = connection()
  telemetry.egress({ state: "opened", connection: open }, { agent })
  telemetry.egress({ state: "closed", connection: { ...open, bytesUp: 5, bytesDown: 70 } }, { agent })
  expect((await metric("glovebox.egress.connections")).points).toEqual([
    { attributes: { "glovebox.egress.verdict": "allowed" }, value: 1 },
  ])
  expect(await metric("glovebox.egress.io")).toEqual({
    unit: "By",
    points: [
      { attributes: { "network.io.direction": "transmit" }, value: 5 },
      { attributes: { "network.io.direction": "receive" }, value: 70 },
    ],
  })
})

it("tells of pools when it is asked, the sum for those of one name, until they are let go", async () => {
  const { telemetry, metric } = listening()
  const told = async (): Promise<unknown[]> =>
    (await metric("glovebox.pool.sandboxes")).points.map(({ attributes, value }) => [
      attributes["glovebox.executor"],
      attributes["glovebox.pool.state"],
      value,
    ])
  const first: { pool: PoolState | undefined } = { pool: { ready: 2, busy: 1, size: 2 } }
  const broken = {
    get pool(): never {
      throw new Error("broken")
    },
  }
  const watches = [
    telemetry.watchPool(first, { executor: "docker" }),
    telemetry.watchPool({ pool: { ready: 1, busy: 0, size: 1 } }, { executor: "docker" }),
    telemetry.watchPool({}, { executor: "not started" }),
    telemetry.watchPool(broken, { executor: "broken" }),
  ]
  expect(await told()).toEqual([
    ["docker", "ready", 3],
    ["docker", "busy", 1],
  ])
  first.pool = { ready: 0, busy: 3, size: 2 }
  expect(await told()).toEqual([
    ["docker", "ready", 1],
    ["docker", "busy", 3],
  ])
  for (const watch of [...watches, ...watches]) watch[Symbol.dispose]()
  expect(await told()).toEqual([
    ["docker", "ready", 0],
    ["docker", "busy", 0],
  ])
})
