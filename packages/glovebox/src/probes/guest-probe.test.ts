import { describe, expect, it } from "vitest"
import type { Finding } from "./finding.ts"
import { attackFromGuest } from "./guest-probe.ts"
import type { Lab } from "./lab.ts"

const TOKEN = "0123456789abcdef"

// Only what such an attack uses of a lab.
function lab(stdout: string, { isControl = false, outside = true } = {}): Lab {
  const run = { stdout, stderr: "Error: it broke", exitCode: 1, termination: "exit" }
  return {
    isControl,
    token: TOKEN,
    sandboxes: { run: async () => run },
    runOutside: async () => (outside ? run : undefined),
  } as unknown as Lab
}

async function found(stdout: string, options?: Parameters<typeof lab>[1]): Promise<Finding> {
  return attackFromGuest(lab(stdout, options), { language: "javascript", attempts: "" })
}

describe("attacks from a guest", () => {
  it("worked when one did, and were refused when some were tried and none did", async () => {
    expect(await found(`noise\n${TOKEN}{"found":["a","b"],"tried":3}\n`)).toEqual({
      observed: "ALLOWED",
      evidence: "a; b",
    })
    expect(await found(`${TOKEN}{"found":[],"tried":3}`)).toMatchObject({ observed: "BLOCKED" })
  })

  it("are an error when nothing was tried, or nobody said how it went", async () => {
    for (const stdout of [
      "",
      `${TOKEN}{"found":[],"tried":0}`,
      `${TOKEN}nonsense`,
      `${TOKEN}null`,
      `${TOKEN}{}`,
    ]) {
      expect(await found(stdout), stdout).toMatchObject({ observed: "ERROR" })
    }
  })

  it("have as their control the same program without a sandbox, where there is one", async () => {
    const stdout = `${TOKEN}{"found":["a"],"tried":1}`
    expect(await found(stdout, { isControl: true })).toMatchObject({ observed: "ALLOWED" })
    expect(await found(stdout, { isControl: true, outside: false })).toMatchObject({
      observed: "INCONCLUSIVE",
    })
  })
})
