import * as fc from "fast-check"
import { expect, it } from "vitest"
import { cuts, playCuts } from "./random-cuts.test-kit.ts"

it("delivers each frame once and in order, wherever its streams are cut", async () => {
  await fc.assert(
    fc.asyncProperty(cuts, async (steps) => {
      const { sent, got } = await playCuts(steps)
      expect(got).toEqual(sent)
    }),
    { seed: 9, numRuns: 4 },
  )
})
