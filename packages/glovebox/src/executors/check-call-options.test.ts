import { describe, expect, it } from "vitest"
import { failureOf } from "../core/failure-of.test-kit.ts"
import { checkCallOptions } from "./check-call-options.ts"

describe("checkCallOptions", () => {
  it("takes what calls take", () => {
    for (const options of [
      {},
      { signal: AbortSignal.timeout(1000) },
      { onOutput: () => {} },
      { signal: undefined },
    ]) {
      expect(() => checkCallOptions(options)).not.toThrow()
    }
  })

  it("refuses the rest by name", () => {
    expect(failureOf(() => checkCallOptions(null))).toMatch(/^OPTION_INVALID: The options are null/)
    expect(failureOf(() => checkCallOptions({ signal: {} }))).toMatch(/^OPTION_INVALID: The signal is/)
    expect(failureOf(() => checkCallOptions({ onOutput: 5 }))).toMatch(/^OPTION_INVALID: onOutput is 5/)
  })
})
