import { afterAll, describe, it } from "vitest"
import { executorConformance } from "../../testing/executor-conformance.ts"
import { HAS_NO_DOCKER, dockerSubject } from "./docker-subject.test-kit.ts"

describe.skipIf(HAS_NO_DOCKER)("the Docker executor", () => {
  const runner = { describe, it, after: afterAll }
  executorConformance(runner, dockerSubject("a container for each run", { interpreter: "ready" }))
  // What is left out never comes to an interpreter.
  const parts = ["results", "languages", "code files", "output", "timeouts", "aborts"] as const
  executorConformance(
    runner,
    dockerSubject("a new interpreter for each block", { interpreter: "fresh" }),
    parts,
  )
  executorConformance(runner, dockerSubject("a session", { isolation: "session" }))
})
