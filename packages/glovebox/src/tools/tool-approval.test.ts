import { describe, expect, it } from "vitest"
import { z } from "zod"
import { expectFailure } from "../core/expect-failure.test-kit.ts"
import { tool, toolResultText } from "./index.ts"

describe("tool's approval", () => {
  const ran: unknown[] = []
  const remove = tool({
    name: "remove",
    description: "Removes a file",
    parameters: z.object({ path: z.string() }),
    risk: "high",
    approval: ({ path }) => !path.startsWith("tmp/"),
    execute: ({ path }) => {
      ran.push(path)
      return "removed"
    },
  })

  it("is asked for by the arguments, and refused when there is nobody to ask", async () => {
    expect(await remove.needsApproval({ path: "tmp/x" })).toBe(false)
    expect(await remove.needsApproval({ path: "x" })).toBe(true)
    expect(await remove.run({ path: "tmp/x" })).toMatchObject({ isError: false })
    await expectFailure(remove.run({ path: "x" }), "TOOL_APPROVAL_REQUIRED", /Tool remove needs an approval/)
    expect(ran.splice(0)).toEqual(["tmp/x"])
  })

  it("is bound to what is shown: approved, edited or denied", async () => {
    const requests: unknown[] = []
    const approved = await remove.run(
      { path: "x" },
      {
        callId: "1",
        approve: (request) => {
          requests.push(request)
          return { approved: true }
        },
      },
    )
    expect(approved.isError).toBe(false)
    expect(requests).toMatchObject([
      {
        tool: "remove",
        risk: "high",
        arguments: { path: "x" },
        callId: "1",
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      },
    ])
    await remove.run({ path: "x" }, { approve: () => ({ approved: true, arguments: { path: "y" } }) })
    expect(ran.splice(0)).toEqual(["x", "y"])
    const denied = await remove.run(
      { path: "x" },
      { approve: () => ({ approved: false, reason: "it is in use" }) },
    )
    expect(denied).toMatchObject({ isError: true })
    expect(toolResultText(denied)).toBe(
      "The call of remove was not approved. Do not try it again. Reason: it is in use",
    )
    const edited = await remove.run(
      { path: "x" },
      { approve: () => ({ approved: true, arguments: { path: 1 } }) },
    )
    expect(edited.isError).toBe(true)
    expect(ran).toEqual([])
  })

  it("has a hash that differs with everything that the arguments are", async () => {
    const hashes = new Set<string>()
    const any = tool({
      name: "any",
      description: "d",
      parameters: z.object({ value: z.any().transform((key: string) => made[key]) }),
      approval: true,
      execute: () => 1,
    })
    const made: Record<string, unknown> = {
      date: new Date(0),
      later: new Date(1),
      map: new Map([[1, 2]]),
      other: new Map([[1, 3]]),
      set: new Set([1]),
      big: 1n,
      bigger: 2n,
      url: new URL("http://a"),
      elsewhere: new URL("http://b"),
      bytes: Buffer.from("a"),
      more: Buffer.from("b"),
      nothing: {},
      nan: Number.NaN,
      null: null,
    }
    const loop: Record<string, unknown> = {}
    made["loop"] = Object.assign(loop, { loop })
    for (const value of Object.keys(made)) {
      await any.run({ value }, { approve: ({ sha256 }) => ({ approved: hashes.add(sha256).size > 99 }) })
    }
    expect(hashes.size).toBe(Object.keys(made).length)
  })

  it("is not given by anything but a plain yes, nor by an approver that fails", async () => {
    for (const answer of [undefined, true, "yes", {}, { approved: "true" }]) {
      expect(await remove.run({ path: "x" }, { approve: () => answer as never })).toMatchObject({
        isError: true,
      })
    }
    const approve = (): never => {
      throw new Error("the desk is closed")
    }
    await expect(remove.run({ path: "x" }, { approve })).rejects.toThrow("the desk is closed")
    expect(ran).toEqual([])
  })
})
