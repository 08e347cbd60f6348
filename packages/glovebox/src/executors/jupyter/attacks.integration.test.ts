import { afterAll, describe, it } from "vitest"
import { executorAttacks } from "../../testing/executor-attacks.ts"
import { HAS_NO_DOCKER, jupyterSubject } from "./jupyter-subject.test-kit.ts"

describe.skipIf(HAS_NO_DOCKER)("the Jupyter executor", () => {
  executorAttacks({ describe, it, after: afterAll }, jupyterSubject("a kernel"))
})
