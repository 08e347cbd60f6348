import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { silencePip } from "./silence-pip.ts"

describe("silencePip", () => {
  it.each([
    ["pip install x", "pip install -qqq x"],
    ["  pip3  install x", "  pip3  install -qqq x"],
    ["python -m pip install x", "python -m pip install -qqq x"],
    ["python3 -m pip install x\r\nls", "python3 -m pip install -qqq x\r\nls"],
    ["ls\npip install", "ls\npip install -qqq"],
    ["pip install a && pip install b", "pip install -qqq a && pip install b"],
    ["cat <<EOF\npip install x\nEOF", "cat <<EOF\npip install -qqq x\nEOF"],
  ])("makes %j quiet in a shell", (code, quiet) => {
    expect(["bash", "sh", "powershell"].map((language) => silencePip(code, language))).toEqual(
      Array(3).fill(quiet),
    )
  })

  it.each([
    "pip install -q x",
    "pip install x -qq",
    "pip install -qqq x",
    "pip install --quiet x",
    "pip install -Uq x",
    "echo pip install x",
    "# pip install x",
    "pip installer",
    "pip uninstall x",
    "pipx install x",
    "!pip install x",
  ])("leaves %j in a shell", (code) => {
    expect(silencePip(code, "bash")).toBe(code)
  })

  it("is not misled by a q elsewhere", () => {
    expect(silencePip("pip install -r requirements.txt --require-hashes", "sh")).toBe(
      "pip install -qqq -r requirements.txt --require-hashes",
    )
  })

  it.each([
    ["!pip install x", "!pip install -qqq x"],
    ["! pip install x", "! pip install -qqq x"],
    ["  %pip install x", "  %pip install -qqq x"],
    ["!python -m pip install x", "!python -m pip install -qqq x"],
    ["import os\n!pip3 install x\nprint(1)", "import os\n!pip3 install -qqq x\nprint(1)"],
    ["pip install x", "pip install x"],
    ["!pip install -q x", "!pip install -q x"],
    ["s = '!pip install x'", "s = '!pip install x'"],
  ])("turns %j in Python into %j", (code, quiet) => {
    expect(silencePip(code, "python")).toBe(quiet)
  })

  it("leaves other languages", () => {
    expect(silencePip("pip install x", "javascript")).toBe("pip install x")
  })

  it("changes nothing the second time", () => {
    const piece = fc.constantFrom(
      "pip",
      "3",
      " ",
      "\n",
      "\t",
      "install",
      "-q",
      "!",
      "python",
      " -m ",
      "x",
      "\r",
    )
    fc.assert(
      fc.property(fc.array(piece), fc.constantFrom("bash", "python"), (pieces, language) => {
        const once = silencePip(pieces.join(""), language)
        expect(silencePip(once, language)).toBe(once)
        expect(once.replaceAll(" -qqq", "")).toBe(pieces.join(""))
      }),
    )
  })
})
