import { describe, expect, it } from "vitest"
import { languageOf } from "./code-language.ts"

const ofFile = (path: string, text = "x", given?: string): string =>
  languageOf({ text, name: path, path }, given)
const ofText = (text: string, given?: string): string => languageOf({ text, name: "stdin" }, given)

describe("languageOf", () => {
  it.each([
    ["a.py", "python"],
    ["a.sh", "sh"],
    ["a.bash", "bash"],
    ["a.js", "javascript"],
    ["a.mjs", "javascript"],
    ["a.ts", "typescript"],
    ["A.PS1", "powershell"],
    ["dir.py/a.md", "markdown"],
    ["a.markdown", "markdown"],
  ])("tells that of %s from its extension", (path, language) => {
    expect(ofFile(path)).toBe(language)
  })

  it.each([
    ["#!/usr/bin/env python3", "python"],
    ["#!/usr/bin/python3.12 -u\nprint()", "python"],
    ["#! /bin/bash -e\r\ntrue", "bash"],
    ["#!/usr/bin/env -S PYTHONUTF8=1 python3 -u", "python"],
    ["#!/usr/bin/env node", "javascript"],
  ])("tells it from %j", (text, language) => {
    expect(ofText(text)).toBe(language)
    expect(ofFile("bin/tool", text)).toBe(language)
  })

  it("takes the user's word before the extension's, and the extension's before the shebang's", () => {
    expect(ofFile("a.py", "#!/bin/sh", "Bash")).toBe("bash")
    expect(ofFile("a.py", "#!/bin/sh")).toBe("python")
    expect(ofFile("a.txt", "", "md")).toBe("markdown")
    expect(ofText("", "py")).toBe("python")
  })

  it.each(["print(1)", "#!/usr/bin/perl\n", "#!", "\n#!/bin/sh", "#!/usr/bin/env"])(
    "asks for --lang where nothing tells: %j",
    (text) => {
      expect(() => ofText(text)).toThrow(/language of stdin .* give it by --lang/)
    },
  )

  it("lists what there is for a language it does not know", () => {
    expect(() => ofText("", "pyton")).toThrow(/"pyton".*Did you mean python\?.*typescript.*, markdown\.$/)
  })
})
