import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import type { GloveboxError } from "../../core/index.ts"
import { importLine } from "./python-import.ts"

function outcomeOf(call: () => string): string {
  try {
    return call()
  } catch (error) {
    return (error as GloveboxError).code
  }
}

describe("importLine", () => {
  it.each([
    ["math", "import math"],
    ["os.path", "import os.path"],
    ["numpy as np", "import numpy as np"],
    [{ module: "numpy" }, "import numpy"],
    [{ module: "matplotlib.pyplot", as: "plt" }, "import matplotlib.pyplot as plt"],
    [{ from: "os.path", names: ["join"] }, "from os.path import join"],
    [{ from: "a", names: ["b", { name: "c", as: "d" }, { name: "e" }] }, "from a import b, c as d, e"],
  ])("writes %j as %j", (value, line) => {
    expect(importLine(value)).toBe(line)
  })

  it.each([
    "",
    " math",
    "math ",
    "import math",
    "math, os",
    "math;x",
    "math\nx",
    "math as m as n",
    "math as",
    "a..b",
    ".a",
    "class",
    "a as class",
    "1a",
    "ｏs",
    "*",
    null,
    5,
    {},
    [],
    { module: "a", as: "b c" },
    { module: "a\n" },
    { from: "a", names: [] },
    { from: "a", names: "b" },
    { from: "a", names: ["*"] },
    { from: "a", names: ["b as c"] },
    { from: "a", names: [null] },
    { from: "a", names: [{ name: "b", as: "" }] },
    { from: "a" },
    { names: ["a"] },
    { from: "a", names: ["b"], module: "c" },
    { from: "__future__", names: ["annotations"] },
    { from: ".a", names: ["b"] },
  ])("refuses %j", (value) => {
    expect(failureOf(() => importLine(value as string))).toMatch(
      /^FUNCTION_INVALID: The import .* is not usable/,
    )
  })

  it("writes one line of import and nothing else, whatever is given", () => {
    const text = fc.oneof(fc.constantFrom("a", "b.c", "x as y", ";", "\n", "#"), fc.string())
    fc.assert(
      fc.property(
        fc.array(text).map((parts) => parts.join("")),
        (value) => {
          expect(outcomeOf(() => importLine(value))).toMatch(
            /^(?:FUNCTION_INVALID|import [\p{XID_Continue}.]+(?: as \p{XID_Continue}+)?)$/u,
          )
        },
      ),
    )
  })
})
