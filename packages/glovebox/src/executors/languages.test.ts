import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { failureOf } from "../core/failure-of.test-kit.ts"
import type { GloveboxError } from "../core/index.ts"
import { DEFAULT_LANGUAGES, languageTable } from "./languages.ts"

const table = languageTable()

function outcomeOf<T>(call: () => T): T | string {
  try {
    return call()
  } catch (error) {
    return (error as GloveboxError).code
  }
}

describe("lookup", () => {
  it.each([
    ["python", "python"],
    ["Python", "python"],
    [" PY\t", "python"],
    ["python3", "python"],
    ["bash", "bash"],
    ["shell", "sh"],
    ["pwsh", "powershell"],
    ["ps1", "powershell"],
    ["node", "javascript"],
    ["TS", "typescript"],
  ])("knows %j as %s", (name, language) => {
    expect(table.lookup(name).name).toBe(language)
  })

  it.each([
    ["pyhton", 'No language is called "pyhton". Did you mean python?'],
    ["javascrpt", 'No language is called "javascrpt". Did you mean javascript?'],
    ["fortran", 'No language is called "fortran". Known: python, py, python3, bash,'],
    ["", "A code block names no language. Known: "],
    ["  ", "A code block names no language. Known: "],
    [undefined as never, "A code block names no language. Known: "],
  ])("refuses %j", (name, message) => {
    expect(failureOf(() => table.lookup(name))).toContain(`LANGUAGE_UNKNOWN: ${message}`)
  })

  it.each(["python -c", "pythonX/../y", "python;ls", "python\nls", "/bin/sh", "constructor", "__proto__"])(
    "never takes %j for a program",
    (name) => {
      expect(failureOf(() => table.lookup(name))).toMatch(/^LANGUAGE_UNKNOWN/)
    },
  )

  it("answers only with the languages of the table, whatever is asked", () => {
    const languages = new Set<unknown>(DEFAULT_LANGUAGES)
    const anyUnit = fc.nat(0xffff).map((code) => String.fromCharCode(code))
    fc.assert(
      fc.property(fc.string({ unit: anyUnit }), (name) => {
        const outcome = outcomeOf(() => table.lookup(name))
        expect(outcome === "LANGUAGE_UNKNOWN" || languages.has(outcome)).toBe(true)
      }),
    )
  })
})

describe("languageTable", () => {
  it("lists each program once", () => {
    expect(table.programs()).toEqual(["python3", "bash", "sh", "pwsh", "node"])
  })

  it("adds languages", () => {
    const { lookup, programs } = languageTable({
      Ruby: { command: "ruby", aliases: ["RB"], extension: "rb", install: "Ruby 3" },
      "c++": { command: ["/opt/run-c++", "-O2"] },
    })
    expect(lookup("rb")).toEqual({
      name: "ruby",
      aliases: ["rb"],
      extension: "rb",
      command: ["ruby"],
      install: "Ruby 3",
    })
    expect(lookup("C++")).toMatchObject({ extension: "c", command: ["/opt/run-c++", "-O2"], aliases: [] })
    expect(programs()).toEqual(["python3", "bash", "sh", "pwsh", "node", "ruby", "/opt/run-c++"])
  })

  it("replaces a language by name; its aliases and extension stay unless given", () => {
    const kept = languageTable({ python: { command: "python3.12" } })
    expect(kept.lookup("py")).toMatchObject({
      command: ["python3.12"],
      extension: "py",
      install: "python3.12",
    })
    expect(kept.programs()).not.toContain("python3")
    const given = languageTable({ python: { command: "pypy3", aliases: ["pypy"] } })
    expect(given.lookup("pypy").command).toEqual(["pypy3"])
    expect(failureOf(() => given.lookup("py"))).toMatch(/^LANGUAGE_UNKNOWN/)
  })

  it("gives an alias to the language that claims it last", () => {
    const { lookup } = languageTable({ deno: { command: ["deno", "run"], aliases: ["ts", "javascript"] } })
    expect(["ts", "javascript", "typescript", "js"].map((name) => lookup(name).name)).toEqual([
      "deno",
      "deno",
      "typescript",
      "javascript",
    ])
  })

  it("leaves the default table as it is", () => {
    languageTable({ python: { command: "pypy3" } })
    expect(languageTable().lookup("python").command).toEqual(["python3"])
  })

  it.each([
    "python -c",
    "pythonX/../y",
    "bin/python",
    "./python",
    "/usr/../bin/python",
    "/usr/./python",
    "//python",
    "/",
    "/usr/bin/",
    "..",
    "-c",
    "",
    "py\0",
    "py\n",
    "py;ls",
    "$(ls)",
    "C:\\python",
    5,
    [],
    [["python"]],
    ["python3", 5],
    ["python3", "-c\n"],
    ["python3", "\0"],
  ])("refuses the command %j", (command) => {
    expect(failureOf(() => languageTable({ x: { command: command as string } }))).toMatch(
      /^OPTION_INVALID: The languages are not usable: x\.command/,
    )
  })

  it.each([
    [{ "a b": { command: "x" } }, /a b: is no name of a language/],
    [{ "": { command: "x" } }, /OPTION_INVALID/],
    [{ x: { command: "x", extension: "../x" } }, /x\.extension: is no extension/],
    [{ x: { command: "x", extension: ".x" } }, /x\.extension: is no extension/],
    [{ x: { command: "x", aliases: ["a/b"] } }, /x\.aliases\.0: is no name of a language/],
    [{ x: { command: "x", alias: ["y"] } }, /alias/],
    [{ x: "x" }, /x: /],
    ["x", /OPTION_INVALID/],
    [null, /OPTION_INVALID/],
  ])("refuses %j", (extra, message) => {
    const failure = failureOf(() => languageTable(extra as never))
    expect(failure).toMatch(/^OPTION_INVALID: The languages are not usable: /)
    expect(failure).toMatch(message)
  })
})
