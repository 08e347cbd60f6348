import { describe, expect, it } from "vitest"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import { checkModuleName } from "./python-names.ts"

describe("checkModuleName", () => {
  it.each(["functions", "my_tools", "_tools", "Tools2"])("takes %j", (name) => {
    expect(() => checkModuleName(name)).not.toThrow()
  })

  it.each([
    ["", "is not a Python identifier of ASCII letters"],
    ["my-tools", "is not a Python identifier of ASCII letters"],
    ["a.b", "is not a Python identifier of ASCII letters"],
    ["a/b", "is not a Python identifier of ASCII letters"],
    ["1a", "is not a Python identifier of ASCII letters"],
    ["a\n", "is not a Python identifier of ASCII letters"],
    ["größe", "is not a Python identifier of ASCII letters"],
    ["class", "is not a Python identifier of ASCII letters"],
    ["x".repeat(65), "is not a Python identifier of ASCII letters"],
    ["__init__", "is kept for Python itself"],
    ["__main__", "is kept for Python itself"],
    ["os", "is that of a module of Python's own"],
    ["sys", "is that of a module of Python's own"],
    ["JSON", "is that of a module of Python's own"],
    ["cProfile", "is that of a module of Python's own"],
    ["sitecustomize", "is that of a module of Python's own"],
    ["pip", "is that of a module of Python's own"],
    [undefined as never, "is not a string"],
  ])("refuses %j", (name, reason) => {
    const failure = failureOf(() => checkModuleName(name))
    expect(failure).toMatch(/^OPTION_INVALID: The module name /)
    expect(failure).toContain(` ${reason}. Use a name of your own, such as "functions".`)
  })
})
