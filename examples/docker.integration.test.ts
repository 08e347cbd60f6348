import { rm } from "node:fs/promises"
import { beforeAll, describe, expect, it } from "vitest"
import { allExamples, needsEngine, runExamples } from "./examples.test-kit.ts"
import { stubWheels } from "./stub-wheel.test-kit.ts"

const hasEngine = process.env["GLOVEBOX_TEST_DOCKER"] !== "unavailable"
// One writes a file; it has a test beside it.
const examples = allExamples().filter((example) => needsEngine(example) && example.output !== "")

describe.skipIf(!hasEngine)("examples in containers", () => {
  let outputs: ReadonlyMap<string, string>

  beforeAll(async () => {
    const wheels = await stubWheels()
    try {
      outputs = await runExamples(examples, {
        GLOVEBOX_SANDBOX_IMAGE: "glovebox/sandbox:py3",
        WHEEL_DIR: wheels,
      })
    } finally {
      await rm(wheels, { recursive: true })
    }
  })

  it.each(examples)("$path prints what it says", ({ path, output }) => {
    expect(outputs.get(path)).toBe(output)
  })
})
