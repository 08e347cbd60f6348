import fc from "fast-check"
import { expect, it } from "vitest"
import { Redactor } from "./index.ts"

const redactor = new Redactor({ environment: false })

it("takes a field that is a secret by its name, also a list of texts and a long number", () => {
  expect(
    redactor.value({
      "set-cookie": ["sid=abc", "b=c"],
      authorization: ["Basic x"],
      password: 123456,
      secret: 12n,
      credentials: { user: "ada", password: "x" },
      apiKey: null,
    }),
  ).toEqual({
    "set-cookie": ["[redacted:secret]", "[redacted:secret]"],
    authorization: ["[redacted:secret]"],
    password: "[redacted:secret]",
    secret: 12n,
    credentials: { user: "ada", password: "[redacted:secret]" },
    apiKey: null,
  })
})

it.each([
  ["token", "q8Zr1xPa77"],
  ["SESSION_TOKEN", "q8Zr1xPa77"],
  ["encryption_key", "q8Zr1xPa77!"],
])("takes in data what it takes in text: %s", (key, value) => {
  expect(redactor.text(JSON.stringify({ [key]: value }))).toBe(`{"${key}":"[redacted:secret]"}`)
  expect(redactor.value({ [key]: value })).toEqual({ [key]: "[redacted:secret]" })
})

it.each([
  ["tokenizer", "cl100k_base"],
  ["token", "the word"],
  ["cache_key", "q8Zr1xPa77"],
  ["monkey", "q8Zr1xPa77"],
  ["token_type", "urn-ietf-params2-oauth2"],
])("leaves a field that is none: %s", (key, value) => {
  expect(redactor.value({ [key]: value })).toEqual({ [key]: value })
})

it("lets no secret stay in any data, which stays data, and as it is when it is redacted again", () => {
  const secret = "horse-staple"
  const by = new Redactor({ environment: false, values: { db: secret } })
  const names = fc.constantFrom("password", "token", "api_key", "a", secret, `x-${secret}`)
  const texts = fc.oneof(fc.string(), fc.constantFrom(secret, `a ${secret}`, "q8Zr1xPa77", "[redacted:db]"))
  const { data } = fc.letrec((tie) => ({
    data: fc.oneof(
      { maxDepth: 4 },
      texts,
      fc.integer(),
      fc.array(tie("data"), { maxLength: 3 }),
      fc.dictionary(names, tie("data"), { maxKeys: 3 }),
    ),
  }))
  fc.assert(
    fc.property(data, (value) => {
      const clean = by.value(value)
      expect(JSON.stringify(clean)).not.toContain(secret)
      expect(by.value(clean)).toEqual(clean)
      expect(by.error(new Error("no", { cause: value })).cause).toEqual(clean)
    }),
    { numRuns: 60 },
  )
})
