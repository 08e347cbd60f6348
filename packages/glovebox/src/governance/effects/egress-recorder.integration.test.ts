import { expect, it } from "vitest"
import { FakeExecutor } from "../../chat/agents/code-executor/fake-executor.test-kit.ts"
import type { CodeBlock, ExecutionEvent } from "../../executors/index.ts"
import { codeResult } from "../../executors/code-result.test-kit.ts"
import { sha256Of } from "../index.ts"
import { GovernedPlace } from "../governance.test-kit.ts"

const DENIED = {
  type: "egress",
  state: "denied",
  connection: {
    id: 1,
    via: "connect",
    host: "a.example",
    port: 443,
    verdict: "denied",
    bytesUp: 0,
    bytesDown: 0,
    durationMs: 0,
  },
} as const

/** An executor whose program asks for connections without end. */
class Flooding extends FakeExecutor {
  override async *stream(_blocks: readonly CodeBlock[]): AsyncGenerator<ExecutionEvent, void, undefined> {
    for (let index = 0; index < 10_005; index += 1) yield DENIED
    const sandbox = { kind: "fake", policySha256: sha256Of(""), isolation: "run", effective: {} } as const
    yield { type: "finished", result: codeResult({ sandbox }) }
  }
}

it("lets a program that asks for connections without end not fill the log, and tells how many more there were", async () => {
  await using place = await GovernedPlace.make()
  const executor = place.governance.agent("coder").executor(new Flooding())
  await executor.executeCodeBlocks([{ code: "flood()", language: "python" }])
  const records = await place.records()
  expect(records.filter(({ kind }) => kind === "egress")).toHaveLength(10_000)
  expect(records.find(({ kind }) => kind === "custom")?.data).toMatchObject({
    name: "egress-not-recorded",
    detail: { count: 5 },
  })
})
