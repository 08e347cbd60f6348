import { spawn } from "node:child_process"
import { beforeAll, describe, expect, it } from "vitest"
import { type Ended, buildCommand, ended } from "./glovebox.test-kit.ts"

const KEY = "plain-value-of-a-key"
const GUARD = new URL("../../dist/cli/guard-process.js", import.meta.url).href

beforeAll(async () => {
  await buildCommand()
})

/** A guarded process that does something. */
async function guarded(code: string, ...flags: readonly string[]): Promise<Ended> {
  const script = `import { guardProcess } from ${JSON.stringify(GUARD)}\nguardProcess()\nconst key = process.env.MY_API_KEY\n${code}`
  const child = spawn(process.execPath, [...flags, "--input-type=module", "--eval", script], {
    env: { ...process.env, MY_API_KEY: KEY },
  })
  child.stdin.end()
  return ended(child)
}

describe("what a process prints by itself", () => {
  it.each([
    ["an error that nobody caught", `setTimeout(() => { throw new TypeError("no " + key) })`],
    [
      "a promise that nobody waits for",
      `void Promise.reject(new TypeError("no " + key, { cause: { key } }))`,
    ],
    ["an error of the program itself", `throw Object.assign(new TypeError("no"), { key })`],
    ["an error that cannot be copied", `const e = new TypeError("no " + key); e.self = e; throw e`],
  ])("of %s has no secrets, and it ends with 1", async (_what, code) => {
    const { code: exit, stdout, stderr } = await guarded(code)
    expect([exit, stdout]).toEqual([1, ""])
    expect(stderr).toContain("TypeError: no")
    expect(stderr).toContain("[redacted:MY_API_KEY]")
    expect(stderr).not.toContain(KEY)
  })

  it("of warnings has none either", async () => {
    const warn = `process.emitWarning("odd " + key, { type: "OddWarning", detail: "see " + key })`
    const { code, stderr } = await guarded(warn)
    expect(code).toBe(0)
    expect(stderr).toMatch(
      /^\(node:\d+\) OddWarning: odd \[redacted:MY_API_KEY\]\nsee \[redacted:MY_API_KEY\]\n$/,
    )
    expect((await guarded(warn, "--no-warnings")).stderr).toBe("")
  })
})
