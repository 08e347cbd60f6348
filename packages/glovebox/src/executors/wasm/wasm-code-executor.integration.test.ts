import { afterAll, describe, it } from "vitest"
import { executorAttacks } from "../../testing/executor-attacks.ts"
import { executorConformance } from "../../testing/executor-conformance.ts"
import { wasmSubject } from "./wasm-subject.test-kit.ts"

describe("the embedded executor", () => {
  const runner = { describe, it, after: afterAll }
  const run = wasmSubject("an interpreter for each block")
  const session = wasmSubject("one interpreter", { isolation: "session" })
  executorConformance(runner, run)
  // The wall is the same process; what only a session can have is in wasm-sessions.
  executorConformance(runner, session, [
    "results",
    "languages",
    "code files",
    "files",
    "timeouts",
    "lifecycle",
  ])
  executorAttacks(runner, run)
})
