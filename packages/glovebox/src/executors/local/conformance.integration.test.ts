import { afterAll, describe, it } from "vitest"
import { executorConformance } from "../../testing/executor-conformance.ts"
import { LOCAL_SUBJECT } from "./local-subject.test-kit.ts"

describe("the local executor", () => {
  executorConformance({ describe, it, after: afterAll }, LOCAL_SUBJECT)
})
