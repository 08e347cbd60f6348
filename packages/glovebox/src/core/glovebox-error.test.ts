import { describe, expect, expectTypeOf, it } from "vitest"
import { ERROR_CODES, type ErrorCode, GloveboxError } from "./glovebox-error.ts"

describe("GloveboxError", () => {
  it("is an error with a code, a message and a cause", () => {
    const cause = new Error("below")
    const error = new GloveboxError("MAILBOX_FULL", "Full.", { cause })
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({ name: "GloveboxError", code: "MAILBOX_FULL", cause })
    expect(String(error)).toBe("GloveboxError: Full.")
    expect(new GloveboxError("MAILBOX_FULL", "Full.")).not.toHaveProperty("cause")
    expectTypeOf(error.code).toEqualTypeOf<ErrorCode>()
    // @ts-expect-error the codes are a closed list
    expect(new GloveboxError("NO_SUCH_CODE", "")).toBeInstanceOf(Error)
  })

  it("lists each code once, in order", () => {
    expect(ERROR_CODES).toEqual([...new Set(ERROR_CODES)].toSorted())
  })
})

describe("GloveboxError.is", () => {
  it("asks for the code, when there is one", () => {
    const error: unknown = new GloveboxError("SEND_TIMEOUT", "Late.")
    expect(GloveboxError.is(error)).toBe(true)
    expect(GloveboxError.is(error, "SEND_TIMEOUT")).toBe(true)
    expect(GloveboxError.is(error, "MAILBOX_FULL")).toBe(false)
    expectTypeOf<(typeof GloveboxError)["is"]>().guards.toEqualTypeOf<GloveboxError>()
  })

  it("knows a subclass, and an error of another copy of the package", () => {
    class Special extends GloveboxError {}
    const foreign = Object.assign(new Error("Late."), { name: "GloveboxError", code: "SEND_TIMEOUT" })
    expect(GloveboxError.is(new Special("SEND_TIMEOUT", ""), "SEND_TIMEOUT")).toBe(true)
    expect(GloveboxError.is(foreign, "SEND_TIMEOUT")).toBe(true)
  })

  it.each([
    undefined,
    null,
    "GloveboxError",
    new Error("x"),
    { name: "GloveboxError", code: "SEND_TIMEOUT" },
    Object.assign(new Error("x"), { code: "SEND_TIMEOUT" }),
    Object.assign(new Error("x"), { name: "GloveboxError" }),
  ])("does not take %o for one", (value) => {
    expect(GloveboxError.is(value)).toBe(false)
  })
})
