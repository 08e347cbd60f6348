import { describe, expect, it } from "vitest"
import { findJsonObjects } from "./json-objects.ts"

describe("findJsonObjects", () => {
  it.each<[string, string, unknown[]]>([
    ["an object alone", '{"a":1}', [{ a: 1 }]],
    ["an object between words", 'Sure: {"a":1} is it.', [{ a: 1 }]],
    ["an object in a fence", '```json\n{"a":{"b":2}}\n```', [{ a: { b: 2 } }]],
    ["braces and quotes in a text", String.raw`{"a":"} \" {"}`, [{ a: '} " {' }]],
    ["several", '{"a":1}\n{"b":2}', [{ a: 1 }, { b: 2 }]],
    ["one after words in braces", '{so to say} {"a":1}', [{ a: 1 }]],
    ["one after an open brace", 'a { b {"a":1}', [{ a: 1 }]],
    ["none", "no, [1, 2]", []],
  ])("finds %s", (_, text, objects) => {
    expect(findJsonObjects(text).objects).toEqual(objects)
  })

  it("says why an object is none", () => {
    expect(findJsonObjects('{"a":1,}')).toMatchObject({
      objects: [],
      problem: expect.stringContaining("JSON"),
    })
    expect(findJsonObjects('{"a":')).toEqual({ objects: [], problem: "an object in it has no end" })
  })

  it("comes to an end with a text of nothing but braces", () => {
    expect(findJsonObjects("{".repeat(200_000)).objects).toEqual([])
  })

  it("gives none where there are more than anybody would write", () => {
    expect(findJsonObjects("{}".repeat(100)).objects).toHaveLength(100)
    expect(findJsonObjects("{}".repeat(101))).toEqual({
      objects: [],
      problem: "there are more than 100 objects in it",
    })
  })
})
