import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { filenameDirective } from "./filename-directive.ts"

describe("filenameDirective", () => {
  it.each([
    ["# filename: x.py\nprint(1)", "x.py"],
    ["#filename:x.py", "x.py"],
    ["  #  FileName :  a b.py  \r\nprint(1)", "a b.py"],
    ["// filename: src/x.js\n", "src/x.js"],
    ["<!-- filename: x.html -->\n<p>", "x.html"],
    ["<!--filename:x.html-->", "x.html"],
    ["\uFEFF# filename: x.py", "x.py"],
    ["#!/usr/bin/env python3\n# filename: x.py\n", "x.py"],
    ["#!/bin/sh\r\n# filename: x.sh\r\n", "x.sh"],
    ["# filename: `x.py`", "x.py"],
    ['# filename: "x y.py"', "x y.py"],
    ["# filename: 'x.py'", "x.py"],
    ["# filename: \"x.py'", "\"x.py'"],
    ['# filename: "', '"'],
    ["# filename: C:\\tmp\\x.py", "C:\\tmp\\x.py"],
    ["# filename: a:b:c.py", "a:b:c.py"],
    ["# filename: ../x.py", "../x.py"],
    ["# filename:\nprint(1)", ""],
    ["# filename: ''", ""],
  ])("finds in %j the name %j", (code, name) => {
    expect(filenameDirective(code)).toBe(name)
  })

  it.each([
    "",
    "print(1)",
    "\n# filename: x.py",
    "print(1)\n# filename: x.py",
    "# file name: x.py",
    "# the filename: x.py",
    "filename: x.py",
    "-- filename: x.sql",
    "/ filename: x.py",
    "<!-- filename: x.html",
    "<!-- filename: x.html --> <p>",
    "#!/bin/sh\n#!/bin/sh\n# filename: x.py",
    "#!/bin/sh\n\n# filename: x.py",
    "#!/bin/sh",
  ])("finds none in %j", (code) => {
    expect(filenameDirective(code)).toBeUndefined()
  })

  it("keeps any plain name", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[^\s"'`](?:[^\n]*[^\s"'`])?$/), (name) => {
        expect(filenameDirective(`# filename: ${name}\npass`)).toBe(name)
      }),
    )
  })
})
