import { describe, expect, it } from "vitest"
import type { RichOutput } from "../rich-output.ts"
import { OutputArtifacts } from "./output-artifacts.ts"

const html = (display: number): RichOutput => ({ type: "html", mime: "text/html", data: "x", display })
const json = (display: number, mime: string): RichOutput => ({ type: "json", mime, data: 1, display })
const text = (display: number): RichOutput => ({ type: "text", mime: "text/plain", data: "x", display })

function names(artifacts: OutputArtifacts, outputs: readonly RichOutput[]): unknown[] {
  return artifacts.name(outputs).outputs.map(({ artifact }) => artifact)
}

describe("OutputArtifacts", () => {
  it("numbers what was shown over all calls; forms of one thing share the number", () => {
    const artifacts = new OutputArtifacts()
    const first = artifacts.name([text(1), html(1), json(1, "a/b+json"), json(1, "a/c+json"), html(2)])
    const paths = ["output-1.html", "output-1.json", "output-1-2.json", "output-2.html"]
    expect(first.outputs.map(({ artifact }) => artifact)).toEqual([undefined, ...paths])
    expect(first.artifacts.map(({ path }) => path)).toEqual(paths)
    expect(first.isWhole).toBe(true)
    expect(names(artifacts, [html(1)])).toEqual(["output-3.html"])
  })

  it("takes no number that a name has, or once had", () => {
    const artifacts = new OutputArtifacts()
    artifacts.passOver(["output-1.png", "output-4", "output-3-2.json", "other-9.html", "output-x", "output-"])
    artifacts.passOver([])
    expect(names(artifacts, [html(1)])).toEqual(["output-5.html"])
    artifacts.passOverNumber(7)
    artifacts.passOverNumber(2)
    expect(names(artifacts, [html(1)])).toEqual(["output-8.html"])
    // Not a number that could be counted on from.
    artifacts.passOver(["output-99999999999999999999.png"])
    expect(names(artifacts, [html(1)])).toEqual(["output-9.html"])
  })

  it("what cannot be a file costs nothing but that", () => {
    const endless: Record<string, unknown> = {}
    endless["itself"] = endless
    const broken = { type: "json", mime: "application/json", data: endless, display: 1 } as RichOutput
    const { outputs, artifacts, isWhole } = new OutputArtifacts().name([broken, html(2)])
    expect(outputs.map(({ artifact }) => artifact)).toEqual([undefined, "output-1.html"])
    expect([artifacts.length, isWhole]).toEqual([1, false])
  })
})
