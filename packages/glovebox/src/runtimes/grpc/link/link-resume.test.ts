import * as fc from "fast-check"
import { it } from "vitest"
import { survivesCuts } from "./random-cuts.test-kit.ts"

it("delivers each frame once and in order, wherever its streams are cut", async () => {
  await fc.assert(survivesCuts, { seed: 9, numRuns: 8 })
})
