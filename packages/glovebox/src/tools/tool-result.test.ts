import { describe, expect, it } from "vitest"
import { type Image, image } from "../models/index.ts"
import { tool, toolResultText } from "./index.ts"

function returning(value: unknown): ReturnType<typeof tool> {
  return tool({ name: "it", description: "Returns it", execute: () => value })
}

const png: Image = image(Buffer.from("89504E470D0A1A0A0000", "hex"))

describe("tool's result", () => {
  it.each<[string, unknown, string]>([
    ["text as it is", "21 °C", "21 °C"],
    [
      "an object as JSON",
      { a: [1, null], at: new Date(0) },
      '{"a":[1,null],"at":"1970-01-01T00:00:00.000Z"}',
    ],
    ["a list as JSON", ["a", "b"], '["a","b"]'],
    ["nothing in words", undefined, "The tool has finished. It returns nothing."],
    ["null", null, "null"],
  ])("is %s", async (_, value, text) => {
    expect(await returning(value).run({})).toEqual({
      type: "ToolResult",
      name: "it",
      result: [{ type: "TextResultContent", content: text }],
      isError: false,
    })
  })

  it("is an image, alone or among text", async () => {
    expect((await returning(png).run({})).result).toEqual([{ type: "ImageResultContent", content: png }])
    const result = await returning(["A plot:", png]).run({})
    expect(result.result.map(({ type }) => type)).toEqual(["TextResultContent", "ImageResultContent"])
    expect(toolResultText(result)).toBe("A plot:\n[image: image/png]")
    expect(toolResultText(result, { replaceImage: () => "see below" })).toBe("A plot:\nsee below")
  })

  it("is one of its own only in its whole shape", async () => {
    const own = {
      type: "ToolResult",
      name: "x",
      result: [{ type: "TextResultContent", content: "a" }],
      isError: true,
    }
    expect(await returning(own).run({})).toEqual({ ...own, name: "it" })
    for (const value of [{ type: "ToolResult" }, { ...own, result: [5] }, { ...own, isError: "no" }]) {
      const { result, isError } = await returning(value).run({})
      expect({ result, isError }).toEqual({
        result: [{ type: "TextResultContent", content: JSON.stringify(value) }],
        isError: false,
      })
    }
  })

  it("streams nothing for nothing, and leaves an iterator that cannot be left", async () => {
    const values = [
      { done: false, value: undefined },
      { done: true, value: "end" },
    ]
    const iterator = { [Symbol.asyncIterator]: () => iterator, next: async () => values.shift() }
    const items = []
    for await (const item of returning(iterator).stream({})) items.push(item)
    expect(items).toMatchObject([{ content: { content: "" } }, { result: [{ content: "end" }] }])
    const failing = {
      [Symbol.asyncIterator]: () => failing,
      next: async () => Promise.reject(new Error("out of paper")),
    }
    expect(toolResultText(await returning(failing).run({}))).toBe("out of paper")
  })

  it.each([new Map([[1, 2]]), { a: 1n }, { f: () => 1 }, Buffer.from("x"), { e: new Error("x") }, [/x/]])(
    "is an error for what JSON cannot hold",
    async (value) => {
      const result = await returning(value).run({})
      expect(result.isError).toBe(true)
      expect(toolResultText(result)).toContain("which JSON cannot hold")
    },
  )
})
