import { afterAll, describe, it } from "vitest"
import { executorConformance } from "../../testing/executor-conformance.ts"
import { bubblewrapSubject } from "./bubblewrap-subject.test-kit.ts"

describe("the bubblewrap executor", () => {
  const runner = { describe, it, after: afterAll }
  executorConformance(runner, bubblewrapSubject("a sandbox for each run"))
  executorConformance(runner, bubblewrapSubject("a session", { isolation: "session" }))
})
