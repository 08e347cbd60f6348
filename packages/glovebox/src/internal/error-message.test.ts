import { expect, it } from "vitest"
import { errorMessage } from "./error-message.ts"

it.each<[unknown, string]>([
  [new TypeError("boom"), "boom"],
  ["boom", '"boom"'],
  [undefined, "undefined"],
  [null, "null"],
  [{ code: 1 }, '{"code":1}'],
  [Object.create(null), "{}"],
])("errorMessage says of %o: %s", (thrown, text) => {
  expect(errorMessage(thrown)).toBe(text)
})
