import { describe, expect, it } from "vitest"
import { ThoughtFilter } from "./thought-filter.ts"

describe("ThoughtFilter", () => {
  it.each([
    ["<think>hm</think>Four.", "Four."],
    ["\n <think>\nhm <b>\n</think>\n\nFour. </think>", "Four. </think>"],
    ["<think></think>", ""],
    ["<think>never closed", "<think>never closed"],
    ["<thin air", "<thin air"],
    ["  Four. <think>late</think>", "  Four. <think>late</think>"],
    ["<", "<"],
    ["", ""],
    [" \n", " \n"],
  ])("shows of %j only %j, wherever it is cut", (text, shown) => {
    for (let cut = 0; cut <= text.length; cut += 1) {
      const filter = new ThoughtFilter()
      expect(
        filter.add(text.slice(0, cut)) + filter.add(text.slice(cut)) + filter.end(),
        `cut at ${cut}`,
      ).toBe(shown)
    }
    const filter = new ThoughtFilter()
    expect(
      text
        .split("")
        .map((letter) => filter.add(letter))
        .join("") + filter.end(),
    ).toBe(shown)
  })

  it("holds nothing back that is not reasoning", () => {
    expect(new ThoughtFilter().add("Fo")).toBe("Fo")
  })
})
