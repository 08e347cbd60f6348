import { afterAll, describe, it } from "vitest"
// oxlint-disable-next-line no-restricted-imports -- A test may look up to the suite it runs.
import { executorAttacks } from "../../testing/executor-attacks.ts"
import { HAS_NO_DOCKER, dockerSubject } from "./docker-subject.test-kit.ts"

const runner = { describe: describe.skipIf(HAS_NO_DOCKER), it, after: afterAll }

executorAttacks(runner, dockerSubject("Docker, a container for each run", { interpreter: "ready" }))
executorAttacks(runner, dockerSubject("Docker, a new interpreter for each block", { interpreter: "fresh" }))
