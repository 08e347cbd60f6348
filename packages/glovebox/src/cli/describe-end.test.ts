import { describe, expect, it } from "vitest"
import { blockResult } from "../executors/code-result.test-kit.ts"
import { SandboxPolicy } from "../policy/index.ts"
import { describeEnd } from "./describe-end.ts"

const { limits } = new SandboxPolicy({ limits: { wall: "30s" } }).fields

describe("describeEnd", () => {
  it("says nothing of code that simply ended", () => {
    expect(describeEnd([blockResult({ exitCode: 0 })], 1, limits)).toEqual([])
    expect(describeEnd([blockResult({ exitCode: 3 })], 1, limits)).toEqual([])
    expect(describeEnd([blockResult({ exitCode: 0 }), blockResult({ exitCode: 0 })], 2, limits)).toEqual([])
  })

  it.each([
    ["timeout", "longer than 30s"],
    ["oom", "512MiB"],
    ["process-limit", "128 processes"],
    ["disk-full", "256MiB and 65536 files"],
    ["output-limit", "1MiB"],
  ] as const)("names the limit after %s", (termination, words) => {
    const [line, ...more] = describeEnd([blockResult({ termination })], 1, limits)
    expect(line).toContain(words)
    expect(line).toContain("limits.")
    expect(more).toEqual([])
  })

  it("names the signal", () => {
    expect(describeEnd([blockResult({ termination: "signal", signal: "SIGSEGV" })], 1, limits)).toEqual([
      "the code was ended by SIGSEGV",
    ])
  })

  it("says which block failed, and that others did not run", () => {
    expect(describeEnd([blockResult({ exitCode: 0 }), blockResult({ exitCode: 3 })], 4, limits)).toEqual([
      "block 2 of 4 (python) ended with 3; the 2 after it did not run",
    ])
    expect(describeEnd([blockResult({ exitCode: 0 }), blockResult({ exitCode: 3 })], 2, limits)).toEqual([
      "block 2 of 2 (python) ended with 3",
    ])
  })
})
