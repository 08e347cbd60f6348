import { afterAll, beforeAll, describe, it } from "vitest"
import { SingleThreadedAgentRuntime } from "../../core/index.ts"
import { executorConformance } from "../../testing/executor-conformance.ts"
import { HAS_NO_DOCKER, dockerSubject } from "../docker/docker-subject.test-kit.ts"
import { remoteSubject } from "./remote-subject.test-kit.ts"
import { serveCodeExecutor } from "./serve-code-executor.ts"

describe.skipIf(HAS_NO_DOCKER)("the remote executor, in one process, with Docker behind it", () => {
  const runtime = new SingleThreadedAgentRuntime()
  const subject = remoteSubject("remote Docker", dockerSubject("Docker"), () => runtime)

  beforeAll(async () => {
    await serveCodeExecutor(runtime, { executor: subject.executor })
    runtime.start()
  })
  // Everything else is shown over gRPC, with a sandbox that starts sooner; containers end in ways of their own.
  executorConformance({ describe, it, after: afterAll }, subject, ["files", "aborts"])
  afterAll(() => runtime.close())
})
