import { afterAll, beforeAll, describe, it } from "vitest"
import { executorConformance } from "../../testing/executor-conformance.ts"
import { wasmSubject } from "../wasm/wasm-subject.test-kit.ts"
import { GrpcEnds } from "./grpc-ends.test-kit.ts"
import { remoteSubject } from "./remote-subject.test-kit.ts"
import { serveCodeExecutor } from "./serve-code-executor.ts"

describe("the remote executor, over a host and two workers, with the embedded sandbox behind it", () => {
  let ends: GrpcEnds | undefined
  const subject = remoteSubject("remote wasm", wasmSubject("wasm"), () => ends!.near)

  beforeAll(async () => {
    ends = await GrpcEnds.start()
    await serveCodeExecutor(ends.far, { executor: subject.executor })
  })
  // What is left out is decided at the far end alone.
  const parts = ["results", "files", "output", "streams", "aborts", "lifecycle", "concurrency"] as const
  executorConformance({ describe, it, after: afterAll }, subject, parts)
  afterAll(() => ends?.[Symbol.asyncDispose]())
})
