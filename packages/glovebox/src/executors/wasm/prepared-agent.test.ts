import { describe, expect, it } from "vitest"
import type { FramedAgent } from "../sandbox/framed-agent.ts"
import type { RunEnd, RunRequest } from "../sandbox/sandbox-agent.ts"
import { preparedAgent } from "./prepared-agent.ts"

const CODE = { argv: ["python3", "a.py"], how: "exec", onOutput: () => {} } as const

interface Fake {
  agent: FramedAgent
  answers: (RunEnd | Error)[]
  closed: () => boolean
}

/** An agent that gives these answers, and then none. */
function fake(...answers: (RunEnd | Error)[]): Fake {
  let isClosed = false
  const agent = {
    run: async (_request: RunRequest): Promise<RunEnd> => {
      const answer = answers.shift()
      if (answer instanceof Error) throw answer
      return answer ?? new Promise<RunEnd>(() => {})
    },
    put: async () => new Promise<void>(() => {}),
    close: () => {
      isClosed = true
    },
  }
  return { agent: agent as unknown as FramedAgent, answers, closed: () => isClosed }
}

function end(number: number, alive: boolean): RunEnd {
  return { code: 0, signal: null, limits: [], kernel: { number, alive } }
}

describe("an agent that starts interpreters ahead", () => {
  it("is lost when an interpreter does not start in time, or files are not taken", async () => {
    for (const work of ["prepare", "put"] as const) {
      const { agent, closed } = fake()
      const prepared = preparedAgent(agent, "session", 20)
      const waited = work === "put" ? prepared.put([]) : prepared.prepare?.(["node"])
      await expect(waited).rejects.toMatchObject({ code: "SANDBOX_LOST", message: /within 0\.02 s/ })
      expect(closed()).toBe(false)
      await new Promise((resolve) => void setImmediate(resolve))
      expect(closed()).toBe(true)
    }
  })

  it("tells once that an interpreter ended", async () => {
    const prepared = preparedAgent(fake(end(1, false), end(2, true), end(2, true)).agent, "session")
    await prepared.run(CODE)
    expect(prepared.takeLoss?.()).toMatch(/python3 was ended/)
    await prepared.prepare?.(["python3"])
    await prepared.run(CODE)
    expect(prepared.takeLoss?.()).toBeUndefined()
  })

  it("tells of one that ended in a call that was rejected, when another answers", async () => {
    const prepared = preparedAgent(fake(end(1, true), new Error("no"), end(2, true)).agent, "session")
    await prepared.run(CODE)
    await expect(prepared.run(CODE)).rejects.toThrow("no")
    expect(prepared.takeLoss?.()).toBeUndefined()
    await prepared.prepare?.(["python3"])
    expect(prepared.takeLoss?.()).toMatch(/python3 was ended/)
  })

  it("has nothing to lose without a session", () => {
    expect(preparedAgent(fake().agent, "run")).not.toHaveProperty("takeLoss")
  })
})
