import { afterAll, beforeAll, describe, it } from "vitest"
import { executorConformance } from "../../testing/executor-conformance.ts"
import { LOCAL_SUBJECT } from "../local/local-subject.test-kit.ts"
import { GrpcEnds } from "./grpc-ends.test-kit.ts"
import { remoteSubject } from "./remote-subject.test-kit.ts"
import { serveCodeExecutor } from "./serve-code-executor.ts"

describe("the remote executor, over a host and two workers", () => {
  let ends: GrpcEnds | undefined
  // Behind it the executor that starts the soonest: what is looked at is the way to it.
  const subject = remoteSubject("remote local", LOCAL_SUBJECT, () => ends!.near)

  beforeAll(async () => {
    ends = await GrpcEnds.start()
    await serveCodeExecutor(ends.far, { executor: subject.executor, dangerouslyServeHost: true })
  })
  // Times and languages are decided at the far end alone.
  const parts = [
    "results",
    "code files",
    "files",
    "output",
    "streams",
    "aborts",
    "lifecycle",
    "concurrency",
  ] as const
  executorConformance({ describe, it, after: afterAll }, subject, parts)
  afterAll(() => ends?.[Symbol.asyncDispose]())
})
