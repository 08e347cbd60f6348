import { describe, expect, it } from "vitest"
import { LOCAL_SUBJECT } from "../executors/local/local-subject.test-kit.ts"
import { executorAttacks } from "./executor-attacks.ts"

describe("executorAttacks", () => {
  it("refuses to attack the machine that runs the tests", () => {
    const defined: string[] = []
    const define = (name: string): void => void defined.push(name)
    const runner = { describe: define, it: define, after: () => {} }
    expect(() => executorAttacks(runner, LOCAL_SUBJECT)).toThrow(/it has no wall/)
    expect(defined).toEqual([])
  })
})
