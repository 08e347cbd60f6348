import { describe, expect, it } from "vitest"
import { PythonCells } from "./python-cells.ts"

function cellsOf(source: string, looksAhead: boolean): string[] {
  const cells = new PythonCells({ looksAhead })
  return [...source.split("\n").flatMap((line) => cells.push(line)), ...cells.end()]
}

const typed = (source: string): string[] => cellsOf(source, false)
const piped = (source: string): string[] => cellsOf(source, true)

describe("PythonCells", () => {
  it.each<[string, string[]]>([
    ["x = 1\nx + 1", ["x = 1", "x + 1"]],
    ["\n\n  \nx", ["x"]],
    ["f(1,\n  2)\ny", ["f(1,\n  2)", "y"]],
    ["x = [1, # ]\n 2]", ["x = [1, # ]\n 2]"]],
    ['t = """a\n\nb:"""\nt', ['t = """a\n\nb:"""', "t"]],
    ["t = '''(\n'''", ["t = '''(\n'''"]],
    ["x = 1 + \\\n  2", ["x = 1 + \\\n  2"]],
    ["print('a:')", ["print('a:')"]],
    ["print('it\\'s (')", ["print('it\\'s (')"]],
    ["x = {1: 2}", ["x = {1: 2}"]],
    ["# a comment: with a colon", ["# a comment: with a colon"]],
    ["x = 'open", ["x = 'open"]],
    ["!ls (\n%time f(\nx", ["!ls (", "%time f(", "x"]],
  ])("reads %j the same, typed or piped", (source, expected) => {
    expect(typed(source)).toEqual(expected)
    expect(piped(source)).toEqual(expected)
  })

  it("ends a block that is typed at a blank line", () => {
    const cells = new PythonCells({ looksAhead: false })
    expect(cells.push("def f():  # says: hi")).toEqual([])
    expect(cells.isOpen).toBe(true)
    expect(cells.push("    return 1")).toEqual([])
    expect(cells.push("")).toEqual(["def f():  # says: hi\n    return 1"])
    expect(cells.isOpen).toBe(false)
    expect(typed("@cached\ndef f(): pass\n\nf()")).toEqual(["@cached\ndef f(): pass", "f()"])
  })

  it("ends a block that is piped where a new statement begins", () => {
    const source = `def f():
    a = 1

    return a

class C:

    def g(self):
        pass

print(f())
for x in (1, 2):
    print(x)
# a note at the margin
    print(x)
y = 1
try:
    x
except NameError:
    pass

else:
    pass

print(2)`
    expect(piped(source)).toEqual([
      "def f():\n    a = 1\n\n    return a",
      "class C:\n\n    def g(self):\n        pass",
      "print(f())",
      "for x in (1, 2):\n    print(x)\n# a note at the margin\n    print(x)",
      "y = 1",
      "try:\n    x\nexcept NameError:\n    pass\n\nelse:\n    pass",
      "print(2)",
    ])
  })

  it("forgets what was begun", () => {
    const cells = new PythonCells({ looksAhead: false })
    cells.push("for x in y:")
    cells.reset()
    expect([cells.isOpen, cells.push("1")]).toEqual([false, ["1"]])
  })
})
