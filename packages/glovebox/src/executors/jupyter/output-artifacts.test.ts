import { describe, expect, it } from "vitest"
import type { RichOutput } from "../rich-output.ts"
import { OutputArtifacts } from "./output-artifacts.ts"

const html = (display: number): RichOutput => ({ type: "html", mime: "text/html", data: "x", display })
const json = (display: number, mime: string): RichOutput => ({ type: "json", mime, data: 1, display })
const text = (display: number): RichOutput => ({ type: "text", mime: "text/plain", data: "x", display })

describe("OutputArtifacts", () => {
  it("numbers what was shown over all calls; forms of one thing share the number", () => {
    const artifacts = new OutputArtifacts()
    const first = artifacts.name(
      [text(1), html(1), json(1, "a/b+json"), json(1, "a/c+json"), html(2)],
      new Set(),
    )
    expect(first.outputs.map(({ artifact }) => artifact)).toEqual([
      undefined,
      "output-1.html",
      "output-1.json",
      "output-1-2.json",
      "output-2.html",
    ])
    expect(first.artifacts.map(({ path }) => path)).toEqual([
      "output-1.html",
      "output-1.json",
      "output-1-2.json",
      "output-2.html",
    ])
    expect(artifacts.name([html(1)], new Set()).outputs[0]?.artifact).toBe("output-3.html")
  })

  it("takes no name of a file that is there", () => {
    const taken = new Set(["output-1.png", "output-2.csv", "other.html"])
    expect(new OutputArtifacts().name([html(1)], taken).outputs[0]?.artifact).toBe("output-3.html")
  })
})
