import { describe, expect, it } from "vitest"
import type { Display } from "./read-display.ts"
import { ShownOutputs } from "./shown-outputs.ts"

function show(text: string, displayId?: string, action: "show" | "update" = "show"): Display {
  return { action, displayId, contents: [{ type: "html", mime: "text/html", data: text }], troubles: [] }
}

const CLEAR: Display = { action: "clear", waits: false }
const WAIT: Display = { action: "clear", waits: true }

function texts(shown: ShownOutputs, block = 0): unknown[] {
  return shown
    .of(block)
    .map((output) => (output.type === "html" ? `${output.display} ${output.data}` : output))
}

describe("ShownOutputs", () => {
  it("keeps what each block showed, and changes it in its place", () => {
    const shown = new ShownOutputs({ maxBytes: 100, maxCount: 10 })
    shown.take(0, show("a", "id"))
    shown.take(0, show("b"))
    expect(shown.take(1, show("c", "id", "update"))).toMatchObject({
      events: [{ action: "update", block: 1 }],
    })
    expect([texts(shown, 0), texts(shown, 1)]).toEqual([["1 c", "2 b"], []])
    shown.take(1, show("d", "unknown", "update"))
    expect(texts(shown, 1)).toEqual(["3 d"])
    expect(shown.take(1, show("e", undefined, "update")).trouble).toMatch(/names no display/)
  })

  it("an update changes all that have its id", () => {
    const shown = new ShownOutputs({ maxBytes: 10, maxCount: 10 })
    shown.take(0, show("a", "id"))
    shown.take(0, show("b", "id"))
    const { events } = shown.take(0, show("cc", "id", "update"))
    expect(events).toMatchObject([{ outputs: [{ display: 1 }] }, { outputs: [{ display: 2 }] }])
    expect(texts(shown)).toEqual(["1 cc", "2 cc"])
    // Both count.
    expect(shown.take(0, show("123456", "id", "update")).trouble).toMatch(/maxBytes/)
    expect(shown.take(0, show("1234567")).trouble).toMatch(/maxBytes/)
    expect(shown.take(0, show("123456")).trouble).toBeUndefined()
  })

  it("clears its own block, now or with what comes next", () => {
    const shown = new ShownOutputs({ maxBytes: 100, maxCount: 10 })
    shown.take(0, show("other"))
    shown.take(1, show("a"))
    expect(shown.take(1, CLEAR)).toMatchObject({ events: [{ action: "clear", outputs: [] }] })
    expect(texts(shown, 1)).toEqual([])
    shown.take(1, show("b"))
    expect(shown.take(1, WAIT)).toEqual({ events: [] })
    expect(texts(shown, 1)).toEqual(["3 b"])
    expect(shown.take(1, show("c"))).toMatchObject({ events: [{ action: "clear" }, { action: "show" }] })
    expect([texts(shown, 0), texts(shown, 1)]).toEqual([["1 other"], ["4 c"]])
  })

  it("tells of a clear also when what comes next is left out", () => {
    const shown = new ShownOutputs({ maxBytes: 10, maxCount: 10 })
    shown.take(0, show("a"))
    shown.take(0, WAIT)
    expect(shown.take(0, show("12345678901"))).toMatchObject({
      events: [{ action: "clear" }],
      trouble: expect.stringMatching(/maxBytes/),
    })
    expect(texts(shown)).toEqual([])
  })

  it("bounds bytes and count, and counts what was replaced no more", () => {
    const shown = new ShownOutputs({ maxBytes: 10, maxCount: 2 })
    shown.take(0, show("12345678", "id"))
    expect(shown.take(0, show("123")).trouble).toMatch(/maxBytes/)
    for (let step = 0; step < 5; step += 1)
      expect(shown.take(0, show("1234567", "id", "update")).events).toHaveLength(1)
    expect(shown.take(0, show("123")).events).toHaveLength(1)
    expect(shown.take(0, show("")).trouble).toMatch(/maxCount/)
    shown.take(0, CLEAR)
    expect(shown.take(0, show("1234567890")).events).toHaveLength(1)
    shown.take(0, CLEAR)
    // As it would be in its file, in bytes.
    expect(shown.take(0, show('""')).trouble).toMatch(/maxBytes/)
    expect(shown.take(0, show("\u20AC\u20AC\u20AC\u20AC")).trouble).toMatch(/maxBytes/)
  })
})
