import { describe, expect, it } from "vitest"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import { pythonPackage } from "./python-package.ts"

describe("pythonPackage", () => {
  it.each([
    ["requests", "requests"],
    ["ruamel.yaml", "ruamel.yaml"],
    ["typing_extensions", "typing_extensions"],
    ["pandas[excel,plot]", "pandas[excel,plot]"],
    ["pandas[excel, plot] >= 2.0, < 3", "pandas[excel,plot]>=2.0,<3"],
    ["numpy==1.26.*", "numpy==1.26.*"],
    ["torch~=2.1", "torch~=2.1"],
    ["x!=1.0.post1", "x!=1.0.post1"],
    ["x===1.0+local.1", "x===1.0+local.1"],
    ["x==1!2.0rc1", "x==1!2.0rc1"],
  ])("takes %j as %j", (requirement, normal) => {
    expect(pythonPackage(requirement)).toBe(normal)
  })

  it.each([
    "",
    " ",
    "-r requirements.txt",
    "--index-url=http://evil",
    "requests --index-url http://evil",
    "requests\n--index-url http://evil",
    "requests\tflask",
    "requests flask",
    "requests\u00a0",
    " requests",
    "requests ",
    "requests\n",
    "git+https://evil/x",
    "x @ https://evil/x",
    "x@https://evil/x",
    "file:///etc",
    "./x",
    "../x",
    "/x",
    ".",
    "~/x",
    "a/b",
    "a\\b",
    "x.whl",
    "x.tar.gz",
    "x==1.zip",
    "X.WHL",
    "x; python_version < '3'",
    "x;ls",
    "x$(ls)",
    "x`ls`",
    "x>",
    "x==",
    "x=1",
    "x[",
    "x[]",
    "x[a",
    "x==1,",
    "x==1 2",
    "x==*",
    "x#y",
    "x\0",
    "_x",
    "x-",
    "x".repeat(201),
    5 as never,
    undefined as never,
  ])("refuses %j", (requirement) => {
    expect(failureOf(() => pythonPackage(requirement))).toMatch(
      /^FUNCTION_INVALID: The Python package .* is refused\. Pass a name/,
    )
  })
})
