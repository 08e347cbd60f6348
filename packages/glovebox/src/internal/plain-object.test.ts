import { runInNewContext } from "node:vm"
import { expect, it } from "vitest"
import { isPlainObject } from "./plain-object.ts"

it.each<[object, boolean]>([
  [{}, true],
  [Object.create(null), true],
  [JSON.parse('{"__proto__":{"a":1}}'), true],
  [runInNewContext("({ a: 1 })"), true],
  [[], false],
  [new Map(), false],
  [new Date(), false],
  [new (class Point {})(), false],
  [runInNewContext("new Map()"), false],
  [Object.create({ inherited: 1 }), false],
  [() => {}, false],
])("isPlainObject of %o is %s", (value, plain) => {
  expect(isPlainObject(value)).toBe(plain)
})
