import { inspect } from "node:util"
import { describe, expect, it } from "vitest"
import { GloveboxError } from "../../core/glovebox-error.ts"
import { Redactor } from "./index.ts"

const SECRET = "horse-staple"
const redactor = new Redactor({ environment: false, values: { db: SECRET } })

describe("an error", () => {
  it("that has no secret stays the very one", () => {
    const error = new GloveboxError("TOOL_FAILED", "no", { cause: new Error("why") })
    expect(redactor.error(error)).toBe(error)
  })

  it("whose class keeps its parts to itself can still be read", () => {
    class Sealed extends Error {
      readonly #detail = `detail ${SECRET}`
      get detail(): string {
        return this.#detail
      }
    }
    expect(redactor.error(new Sealed("no"))).toMatchObject({ detail: "detail [redacted:db]", message: "no" })
    const timeout = redactor.error(new DOMException(`after ${SECRET}`, "TimeoutError"))
    expect(timeout).toBeInstanceOf(DOMException)
    expect(String(timeout)).toBe("TimeoutError: after [redacted:db]")
    expect(inspect(timeout)).not.toContain(SECRET)
  })

  it("with a part that holds itself, or cannot be read, is told without that part", () => {
    const request: Record<string, unknown> = { key: SECRET }
    request["request"] = request
    const cause = Object.assign(new Error("inner"), { request })
    const broken = Object.defineProperty(new Error("broken", { cause }), "field", {
      enumerable: true,
      get: () => {
        throw new Error(SECRET)
      },
    })
    const clean = redactor.error(broken)
    expect(clean).toMatchObject({ field: "[left out]", cause: { message: "inner", request: "[left out]" } })
    expect(inspect(redactor.error(new Error("outer", { cause })), { depth: 9 })).not.toContain(SECRET)
    const loop = new Error(`loop ${SECRET}`)
    loop.cause = loop
    expect(redactor.error(loop)).toMatchObject({ message: "loop [redacted:db]", cause: "[left out]" })
  })
})
