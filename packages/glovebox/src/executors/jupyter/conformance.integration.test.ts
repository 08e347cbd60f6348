import { afterAll, describe, it } from "vitest"
import { executorConformance } from "../../testing/executor-conformance.ts"
import { HAS_NO_DOCKER, jupyterSubject } from "./jupyter-subject.test-kit.ts"

describe.skipIf(HAS_NO_DOCKER)("the Jupyter executor", () => {
  executorConformance({ describe, it, after: afterAll }, jupyterSubject("a kernel"))
})
