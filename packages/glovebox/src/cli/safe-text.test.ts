import { describe, expect, it } from "vitest"
import { safeText } from "./safe-text.ts"

describe("safeText", () => {
  it("lets text, lines and colours through", () => {
    const text = "a\tb\r\n\u001b[1;31mred\u001b[0m äöü 😀"
    expect(safeText(text)).toBe(text)
  })

  it("shows what a terminal would act on", () => {
    expect(safeText("\u001b]0;title\u0007")).toBe("␛]0;title␇")
    expect(safeText("\u001b[2Jgone\u001b[1A")).toBe("␛[2Jgone␛[1A")
    expect(safeText("a\u009b2Jb\u007f")).toBe("a\u{fffd}2Jb\u{fffd}")
  })
})
