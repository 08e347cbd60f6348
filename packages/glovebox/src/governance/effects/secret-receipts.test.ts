import { expect, it } from "vitest"
import { FakeExecutor } from "../../chat/agents/code-executor/fake-executor.test-kit.ts"
import type { CodeBlock, EgressConnection, ExecutionEvent } from "../../executors/index.ts"
import { codeResult } from "../../executors/code-result.test-kit.ts"
import { GovernedPlace } from "../governance.test-kit.ts"
import { sha256Of } from "../index.ts"

const CONNECTION: EgressConnection = {
  id: 1,
  via: "connect",
  host: "api.example",
  port: 443,
  verdict: "allowed",
  intercepted: true,
  secrets: [{ name: "TOKEN", host: "api.example:443" }],
  secretsWithheld: ["OTHER"],
  bytesUp: 0,
  bytesDown: 0,
  durationMs: 0,
}

/** An executor whose program uses a secret once. */
class Using extends FakeExecutor {
  override async *stream(_blocks: readonly CodeBlock[]): AsyncGenerator<ExecutionEvent, void, undefined> {
    yield { type: "egress", state: "opened", connection: CONNECTION }
    yield { type: "egress", state: "closed", connection: { ...CONNECTION, ended: "server" } }
    const sandbox = { kind: "fake", policySha256: sha256Of(""), isolation: "run", effective: {} } as const
    yield { type: "finished", result: codeResult({ sandbox, egress: [CONNECTION] }) }
  }
}

it("records each use of a secret once, beside the connection that it went by", async () => {
  await using place = await GovernedPlace.make()
  const executor = place.governance.agent("coder").executor(new Using())
  await executor.executeCodeBlocks([{ code: "use()", language: "python" }])
  const records = await place.records()
  const used = records.filter(({ kind }) => kind === "secret-used")
  expect(used.map(({ data }) => data)).toMatchObject([
    { name: "TOKEN", host: "api.example:443", how: "egress" },
  ])
  expect(used[0]?.data["id"]).toBe(records.find(({ kind }) => kind === "egress")?.data["id"])
  expect(records.find(({ kind }) => kind === "egress")?.data).toMatchObject({
    intercepted: true,
    secrets: [{ name: "TOKEN", host: "api.example:443" }],
    secretsWithheld: ["OTHER"],
  })
})
