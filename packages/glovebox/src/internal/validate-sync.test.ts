import { describe, expect, expectTypeOf, it } from "vitest"
import { z } from "zod"
import { schemaProblem, validateSync } from "./validate-sync.ts"

describe("validateSync", () => {
  it("gives the schema's output or its issues", () => {
    const result = validateSync(z.string().transform(Number), "12")
    expect(result).toEqual({ value: 12 })
    expect(validateSync(z.string(), 1).issues).toHaveLength(1)
    if (!result.issues) expectTypeOf(result.value).toEqualTypeOf<number>()
  })

  it("refuses a value whose schema waits or throws", () => {
    expect(
      validateSync(
        z.string().refine(async () => true),
        "",
      ).issues?.[0]?.message,
    ).toMatch(/asynchronously/)
    expect(validateSync({} as never, "").issues?.[0]?.message).toMatch(/^the schema throws: ./)
  })
})

describe("schemaProblem", () => {
  it("finds none in a schema, whether an object or a function", () => {
    expect(schemaProblem(z.string())).toBeUndefined()
    expect(schemaProblem(Object.assign(() => {}, { "~standard": { validate: () => {} } }))).toBeUndefined()
  })

  it.each([undefined, null, 1, {}, { "~standard": null }, { parse: () => 1 }])("finds one in %o", (value) => {
    expect(schemaProblem(value)).toMatch(/is not a schema\. Use zod/)
  })
})
