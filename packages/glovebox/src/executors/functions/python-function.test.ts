import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import { pythonFunction, pythonFunctionFromFile } from "./python-function.ts"

const read = (source: string): ReturnType<typeof pythonFunction> => pythonFunction({ source })
const failure = (source: string): string => failureOf(() => read(source))

describe("pythonFunction", () => {
  it("reads the name, the signature and the docstring", () => {
    const source = 'def add(a: int, b: int = 1) -> int:\n    """Add two numbers."""\n    return a + b'
    expect(read(source)).toEqual({
      name: "add",
      source,
      signature: "def add(a: int, b: int = 1) -> int",
      description: "Add two numbers.",
      pythonPackages: [],
      imports: [],
    })
  })

  it("runs nothing of it: what would fail at once in Python is only read", () => {
    expect(read("@boom(1 / 0)\ndef f(x=open('/etc/passwd').read()):\n    raise SystemExit").name).toBe("f")
  })

  it.each([
    ["def f(): pass", "def f()"],
    ["async def f(): pass", "async def f()"],
    ["def f(a,*,b=1,**c):pass", "def f(a,*,b=1,**c)"],
    [
      "def f(\n    a: int,  # the (first\n    b: str = 'x)',\n) -> dict[str, int]:\n    pass",
      "def f(a: int, b: str = 'x)',) -> dict[str, int]",
    ],
    ["def f(a, \\\n      b): pass", "def f(a, b)"],
    ["def f[T: (int, str)](x: T) -> T: pass", "def f[T: (int, str)](x: T) -> T"],
    ["def f(x={':': [1, (2)]}, y=lambda a: a): pass", "def f(x={':': [1, (2)]}, y=lambda a: a)"],
    ["def f() -> 'a: b': pass", "def f() -> 'a: b'"],
    ["def größe(x): pass", "def größe(x)"],
    ["def match(case): pass", "def match(case)"],
    ['def f(x=r"\\"", y=b\'\', z=f"{1}"): pass', 'def f(x=r"\\"", y=b\'\', z=f"{1}")'],
  ])("reads the signature of %j", (source, signature) => {
    expect(read(source).signature).toBe(signature)
  })

  it.each([
    ['"""One."""', "One."],
    ["'''One.'''", "One."],
    ["'One.'", "One."],
    ['"One."; return 1', "One."],
    ["r'a\\nb'", "a\\nb"],
    ["'a\\nb \\'c\\' \\q'", "a\nb 'c' \\q"],
    ["'One. ' 'Two.'", "One. Two."],
    ['"""\n    One.\n\n      Two.\n    """', "One.\n\n  Two."],
    ['"""One # not a comment, and ( too"""', "One # not a comment, and ( too"],
    ["u'One.'", "One."],
    ["# comment\n    'One.'", "One."],
    ["f'One.'", undefined],
    ["b'One.'", undefined],
    ["'One.'.upper()", undefined],
    ["''", undefined],
    ["return 'One.'", undefined],
  ])("reads the docstring %j", (body, description) => {
    expect(read(`def f():\n    ${body}\n    return 1`).description).toBe(description)
  })

  it("reads the docstring of a body on the same line", () => {
    expect(read("def f(): 'One.'").description).toBe("One.")
  })

  it("keeps decorators, comments, imports and inner functions", () => {
    const source =
      '"""A file."""\n# c\nimport os\nfrom a import (\n    b,\n)\n@cache\n@retry(\n    3\n)\ndef f():\n    def g(): pass\n    class C: pass\n    return g\n# end'
    expect(read(source)).toMatchObject({ name: "f", source })
  })

  it("takes the indentation of a template literal off, and reads any line ends", () => {
    expect(read("\n\n    def f():\n        x = '''\nleft'''\n# left\n        return 1\n  ").source).toBe(
      "def f():\n    x = '''\nleft'''\n# left\n    return 1",
    )
    expect(read("\uFEFFdef f():\r\n\treturn 1\r\n").source).toBe("def f():\n\treturn 1")
  })

  it.each([
    ["", "The Python source defines no function. Write one `def` that is not indented."],
    ["# only a comment", "The Python source defines no function."],
    ["def f(): pass\ndef g(): pass", "The Python source defines 2 functions: f, g. Pass each one by itself"],
    [
      "x = 1\ndef f(): pass",
      "Line 1 of the Python source is neither an import nor part of the function. Put it inside",
    ],
    ["def f(): pass\nf()", "Line 2 of the Python source is neither"],
    ["def f(): pass\nif True:\n    f()", "Line 2 of the Python source is neither"],
    ["class C:\n    def f(self): pass", "Line 1 of the Python source is neither"],
    ["import os; os.remove('x')\ndef f(): pass", "Line 1 of the Python source is neither"],
    ["from __future__ import annotations\ndef f(): pass", "Line 1 of the Python source is neither"],
    ["import os\n    def f(): pass", "Line 2 of the Python source is indented, but in no function."],
    [
      "@cache\nimport os\ndef f(): pass",
      "Line 2 of the Python source should be the function that the decorator",
    ],
    ["def f(): pass\n@cache", "The Python source ends with a decorator."],
    ["def f():", "The Python function f has no body."],
    ["def f():\n# comment", "The Python function f has no body."],
    ["def f(x)\n    pass", "The Python function f lacks its list of parameters, or the colon behind it."],
    ["def f: pass", "The Python function f lacks its list of parameters"],
    ["def f() > int: pass", "The Python function f lacks its list of parameters"],
    ["def (x): pass", "The Python function has no usable name: ( follows def."],
    ["def", "The Python function has no usable name: nothing follows def."],
    ["def class(x): pass", "The Python function has no usable name: class follows def."],
    ["def ｆ(x): pass", "The Python function has no usable name: ｆ follows def."],
    ["def f(:\n    pass", "The Python source cannot be read: in line 1, the ( is never closed."],
    ["def f():\n    x = (1]", "The Python source cannot be read: in line 2, the ] closes nothing."],
    ["def f():\n    x = 'a\n'", "The Python source cannot be read: in line 2, the string is never closed."],
    ['def f():\n    """a', "The Python source cannot be read: in line 2, the string is never closed."],
    ["def f():\n    x = 'a\\", "The Python source cannot be read: in line 2, the string is never closed."],
    ["def f():\n    x = 1 \\ 2", "The Python source cannot be read: in line 2, a backslash continues a line"],
    ["def f(): pass\0", "The Python source has a character that Python cannot read."],
    ["def f(): '\uD800'", "The Python source has a character that Python cannot read."],
    [undefined as never, "The Python source is undefined. Pass its text."],
  ])("refuses %j", (source, message) => {
    expect(failure(source)).toContain(`FUNCTION_INVALID: ${message}`)
  })

  it("reads a string that Python reads over several lines", () => {
    expect(read("def f():\n    x = 'a\\\nb'\n    return r'\\''").name).toBe("f")
  })

  it("checks what the function needs", () => {
    const source = "def f(): pass"
    const needs = { pythonPackages: ["pandas >= 2, <3"], imports: ["math", { module: "numpy", as: "np" }] }
    expect(pythonFunction({ source, ...needs })).toMatchObject({
      pythonPackages: ["pandas>=2,<3"],
      imports: needs.imports,
    })
    expect(failureOf(() => pythonFunction({ source, pythonPackages: ["--index-url=http://x"] }))).toMatch(
      /^FUNCTION_INVALID: The Python package/,
    )
    expect(failureOf(() => pythonFunction({ source, imports: ["os; x"] }))).toMatch(
      /^FUNCTION_INVALID: The import "os; x" is not usable/,
    )
    expect(failureOf(() => pythonFunction({ source, imports: "os" as never }))).toBe(
      'FUNCTION_INVALID: imports is "os". Pass a list.',
    )
  })

  it("reads a long source in time that grows with its length", () => {
    const body = '    x = [1, \'a\', """b"""]  # c\n'.repeat(20_000)
    expect(read(`def f():\n${body}`).name).toBe("f")
  })
})

describe("pythonFunctionFromFile", () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "glovebox-function-"))
  })
  afterAll(async () => rm(folder, { recursive: true }))

  async function file(content: string | Uint8Array): Promise<string> {
    const path = join(folder, "f.py")
    await writeFile(path, content)
    return path
  }

  it("reads the file", async () => {
    const path = await file("import os\n\ndef f():\n    'One.'\n")
    expect(await pythonFunctionFromFile(path, { pythonPackages: ["six"] })).toMatchObject({
      name: "f",
      description: "One.",
      pythonPackages: ["six"],
    })
  })

  it("says which file is not usable, and why", async () => {
    const missing = join(folder, "missing.py")
    const error = await expectFailure(
      pythonFunctionFromFile(missing),
      "FUNCTION_INVALID",
      /missing\.py.*ENOENT/,
    )
    expect(error.cause).toMatchObject({ code: "ENOENT" })
    await expectFailure(pythonFunctionFromFile(await file("x = 1")), "FUNCTION_INVALID", /f\.py.*Line 1 /)
    await expectFailure(
      pythonFunctionFromFile(await file(Buffer.of(0xff))),
      "FUNCTION_INVALID",
      /f\.py.*utf-8/,
    )
  })

  it("rejects with the reason of an aborted signal", async () => {
    const signal = AbortSignal.abort(new Error("enough"))
    await expect(pythonFunctionFromFile(await file("def f(): pass"), { signal })).rejects.toThrow("enough")
  })
})
