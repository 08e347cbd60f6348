import { describe, expect, it } from "vitest"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import { describeFunctions, functionsModule } from "./functions-module.ts"
import { pythonFunction } from "./python-function.ts"

const add = pythonFunction({
  source: 'def add(a: int, b: int) -> int:\n    """Add."""\n    return a + b',
  imports: ["math", { from: "typing", names: ["Any"] }],
})
const load = pythonFunction({
  source: '@cache\nasync def load(\n    path,\n):\n    """Load a file.\n\n    Not """ + 1',
  imports: [{ from: "functools", names: ["cache"] }, { module: "math" }, "numpy as np"],
})

describe("functionsModule", () => {
  it("puts each import once, as first seen, before the functions", () => {
    expect(functionsModule([add, load])).toBe(
      `import math\nfrom typing import Any\nfrom functools import cache\nimport numpy as np\n\n${add.source}\n\n\n${load.source}\n`,
    )
  })

  it("needs neither imports nor functions", () => {
    const bare = pythonFunction({ source: "def f(): pass" })
    expect(functionsModule([bare])).toBe("def f(): pass\n")
    expect(functionsModule([])).toBe("")
  })

  it("refuses two functions of one name", () => {
    expect(failureOf(() => functionsModule([add, load, add]))).toBe(
      "FUNCTION_INVALID: Two functions are called add. Give each its own name.",
    )
  })
})

describe("describeFunctions", () => {
  it("tells where to import them from, and how each is called", () => {
    const documented = pythonFunction({
      source: "def f(x):\n    '''One.\n\n    Two: \"\"\".'''\n    return x",
    })
    expect(describeFunctions([add, documented, load], "tools")).toBe(
      [
        "The Python module `tools` has the functions below. Import those you use, for example `from tools import add`.",
        'def add(a: int, b: int) -> int:\n    """Add."""\n    ...',
        'def f(x):\n    """\n    One.\n\n    Two: \'\'\'.\n    """\n    ...',
        "async def load(path,):\n    ...",
      ].join("\n\n"),
    )
  })

  it("says nothing of no functions", () => {
    expect(describeFunctions([], "tools")).toBe("")
  })

  it("refuses a module name that cannot be imported, and two functions of one name", () => {
    expect(failureOf(() => describeFunctions([add], "my-tools"))).toMatch(/^OPTION_INVALID: The module name/)
    expect(failureOf(() => describeFunctions([add, add], "tools"))).toMatch(
      /^FUNCTION_INVALID: Two functions/,
    )
  })
})
