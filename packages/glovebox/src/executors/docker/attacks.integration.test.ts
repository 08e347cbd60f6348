import { afterAll, describe, it } from "vitest"
import { executorAttacks } from "../../testing/executor-attacks.ts"
import { HAS_NO_DOCKER, dockerSubject } from "./docker-subject.test-kit.ts"

describe.skipIf(HAS_NO_DOCKER)("the Docker executor", () => {
  const runner = { describe, it, after: afterAll }
  executorAttacks(runner, dockerSubject("a container for each run", { interpreter: "ready" }))
})
