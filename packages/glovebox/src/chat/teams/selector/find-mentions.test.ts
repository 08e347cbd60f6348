import { describe, expect, it } from "vitest"
import { mentionFinder } from "./find-mentions.ts"

const find = mentionFinder(["coder", "lead_writer", "writer", "Ünal", "a_b", "a"])

describe("mentionFinder", () => {
  it.each([
    ["coder", ["coder"]],
    ["I think `coder`.", ["coder"]],
    ["**coder** (coder has the file)", ["coder"]],
    ["the encoder and coders2", []],
    ["coder_2, my_coder", []],
    ["coder or writer", ["coder", "writer"]],
    ["lead_writer", ["lead_writer"]],
    ["lead writer", ["lead_writer"]],
    [String.raw`lead\_writer`, ["lead_writer"]],
    ["lead writer, then writer", ["lead_writer", "writer"]],
    ["a b", ["a_b"]],
    ["Ünal", ["Ünal"]],
    ["xÜnal", []],
    ["nobody", []],
    ["", []],
  ])("finds in %j %j", (text, names) => {
    expect(find(text)).toEqual(names)
  })

  it.each([
    ["Coder", ["coder"]],
    ["LEAD WRITER", ["lead_writer"]],
    ["A good choice is the coder", ["coder"]],
  ])("takes another case in %j only where none fits as it is written", (text, names) => {
    expect(find(text)).toEqual(names)
  })

  it("finds both of two names that differ in case alone, unless one fits as it is written", () => {
    const both = mentionFinder(["Bob", "bob"])
    expect(both("bob")).toEqual(["bob"])
    expect(both("BOB")).toEqual(["Bob", "bob"])
  })

  it("keeps a line at the edge of a name apart from spaces", () => {
    const edges = mentionFinder(["_x", "y_"])
    expect(edges(". x y .")).toEqual([])
    expect(edges(String.raw`\_x`)).toEqual(["_x"])
  })
})
