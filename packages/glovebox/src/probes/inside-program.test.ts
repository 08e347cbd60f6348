import { describe, expect, it } from "vitest"
import { insideProgram } from "./inside-program.ts"

const request = { id: "a.b", attack: "be_root", given: { text: "quote ' \" \\ \u0000 é" }, seconds: 1 }

/** What the program would print, in front of which it puts its own mark. */
async function read(print: (marker: string) => string): Promise<unknown> {
  const program = await insideProgram([request])
  const marker = /, "([^"]+)", True\)\n$/.exec(program.code)?.[1] ?? ""
  return program.read(print(marker), "no answer").get("a.b")
}

describe("a program of attacks", () => {
  it("is given what it asks for as text that Python reads", async () => {
    const { code } = await insideProgram([request])
    const [, text = ""] = /main\(json\.loads\((".*")\), /.exec(code) ?? []
    expect(JSON.parse(JSON.parse(text) as string)).toEqual([request])
  })

  it("is heard by its mark alone", async () => {
    const answer = `{"id": "a.b", "observed": "BLOCKED", "evidence": "EPERM"}`
    expect(await read((marker) => `noise\n${marker}${answer}\nmore`)).toEqual({
      observed: "BLOCKED",
      evidence: "EPERM",
    })
    expect(await read(() => answer)).toEqual({ observed: "ERROR", evidence: "no answer" })
  })

  it("has failed where it says nothing, or what is no finding", async () => {
    for (const line of [
      "",
      "{",
      "null",
      `{"id": "a.b"}`,
      `{"id": "a.b", "observed": "FINE", "evidence": ""}`,
      `{"id": "other", "observed": "BLOCKED", "evidence": ""}`,
    ]) {
      expect(await read((marker) => marker + line)).toEqual({ observed: "ERROR", evidence: "no answer" })
    }
  })

  it("is believed once, and its words are made plain", async () => {
    const line = (observed: string, evidence: string): string =>
      JSON.stringify({ id: "a.b", observed, evidence })
    const found = await read(
      (marker) => `${marker}${line("ALLOWED", "\u001b[2J a\nb")}\n${marker}${line("BLOCKED", "")}`,
    )
    expect(found).toEqual({ observed: "ALLOWED", evidence: "\u{fffd}[2J a b" })
  })
})
