import { inspect } from "node:util"
import { expect, it } from "vitest"
import { z } from "zod"
import { FakeExecutor } from "../../chat/agents/code-executor/fake-executor.test-kit.ts"
import { GloveboxError } from "../../core/index.ts"
import type { ExecutionEvent } from "../../executors/index.ts"
import type { CreateResult, LLMMessage } from "../../models/index.ts"
import { ReplayChatCompletionClient } from "../../models/replay/index.ts"
import { staticWorkbench, tool } from "../../tools/index.ts"
import { GovernedPlace } from "../governance.test-kit.ts"
import { type Governor, Redactor } from "../index.ts"

const SECRET = "tok-9f83hf83hf8h3f8h3f"
const redaction = new Redactor({ values: [SECRET], environment: false })

function failure(): GloveboxError {
  const cause = Object.assign(new Error(`401 for ${SECRET}`), { headers: { authorization: SECRET } })
  return new GloveboxError("MODEL_RESPONSE_INVALID", `refused ${SECRET}`, { cause })
}

class FailingExecutor extends FakeExecutor {
  override async *stream(): AsyncGenerator<ExecutionEvent, void, undefined> {
    yield await Promise.reject(failure())
  }
}

class FailingClient extends ReplayChatCompletionClient {
  override async create(): Promise<CreateResult> {
    throw failure()
  }
  override async *createStream(): AsyncGenerator<string | CreateResult, CreateResult> {
    return yield await Promise.reject(failure())
  }
}

const failing = tool({
  name: "fail",
  description: "Fails",
  parameters: z.object({}),
  errors: "fatal",
  execute: () => {
    throw failure()
  },
})

const hello: readonly LLMMessage[] = [{ type: "UserMessage", content: "hello", source: "user" }]

it.each<[string, (governor: Governor) => Promise<unknown>]>([
  [
    "an executor",
    async (governor) =>
      governor.executor(new FailingExecutor()).executeCodeBlocks([{ code: "1", language: "python" }]),
  ],
  ["a model client", async (governor) => governor.client(new FailingClient([])).create(hello)],
  [
    "a model client's stream",
    async (governor) => governor.client(new FailingClient([])).createStream(hello).next(),
  ],
  ["a workbench", async (governor) => governor.workbench(staticWorkbench([failing])).callTool("fail", {})],
])("what %s throws has no secrets, and is the same error", async (_what, act) => {
  await using place = await GovernedPlace.make({ redaction })
  const thrown = await act(place.governance.agent("clerk")).then(
    () => undefined,
    (error: unknown) => error,
  )
  expect(GloveboxError.is(thrown)).toBe(true)
  expect(inspect(thrown, { depth: 9 })).toContain("[redacted:secret]")
  expect(inspect(thrown, { depth: 9 })).not.toContain(SECRET)
})
