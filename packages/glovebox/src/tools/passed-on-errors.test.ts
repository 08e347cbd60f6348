import { describe, expect, it } from "vitest"
import { type ErrorCode, GloveboxError } from "../core/index.ts"
import { tool } from "./index.ts"

describe("what a tool throws of governance", () => {
  it.each<ErrorCode>(["ACCESS_DENIED", "APPROVAL_DENIED", "APPROVAL_PENDING"])(
    "comes out as it is: %s",
    async (code) => {
      const error = new GloveboxError(code, "Not now.")
      for (const errors of ["result", "fatal"] as const) {
        const whole = tool({ name: "a", description: "a", errors, execute: () => Promise.reject(error) })
        await expect(whole.run({})).rejects.toBe(error)
        const streaming = tool({
          name: "b",
          description: "b",
          errors,
          async *execute() {
            yield "first"
            throw error
          },
        })
        await expect(streaming.run({})).rejects.toBe(error)
      }
    },
  )
})
