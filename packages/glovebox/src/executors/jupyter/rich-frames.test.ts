import { describe, expect, it } from "vitest"
import { GloveboxError } from "../../core/index.ts"
import { RichFrames } from "./rich-frames.ts"
import type { RichMessage } from "./rich-message.ts"

function begin(fields: object): Buffer {
  return Buffer.from(JSON.stringify({ kind: "display_data", size: 5, dropped: false, ...fields }))
}

function frames(maxBytes = 10): { heard: RichMessage[]; frames: RichFrames } {
  const heard: RichMessage[] = []
  return { heard, frames: new RichFrames(maxBytes, (message) => heard.push(message)) }
}

function codeOf(action: () => void): unknown {
  try {
    action()
    return undefined
  } catch (error) {
    return GloveboxError.is(error) ? error.code : error
  }
}

describe("RichFrames", () => {
  it("puts a message together from its parts", () => {
    const { heard, frames: rich } = frames()
    expect(rich.take("m", begin({}))).toBe(true)
    expect(rich.take("d", Buffer.from("he"))).toBe(true)
    expect(heard).toEqual([])
    rich.take("d", Buffer.from("llo"))
    expect(heard).toEqual([{ kind: "display_data", size: 5, content: Buffer.from("hello") }])
    expect(rich.take("x", Buffer.alloc(0))).toBe(false)
    expect(rich.take("d", Buffer.from("a stray part"))).toBe(false)
  })

  it("tells of one that was too large for the agent", () => {
    const { heard, frames: rich } = frames()
    rich.take("m", begin({ size: 1e12, dropped: true }))
    expect(heard).toEqual([{ kind: "display_data", size: 1e12, content: undefined }])
  })

  it.each([
    ["larger than agreed", [begin({ size: 11 })], ["m"]],
    ["of no size", [begin({ size: 0 })], ["m"]],
    ["of a kind that there is not", [begin({ kind: "error" })], ["m"]],
    ["longer than it said", [begin({}), Buffer.from("too long")], ["m", "d"]],
    ["with an empty part", [begin({}), Buffer.alloc(0)], ["m", "d"]],
    ["that another frame interrupts", [begin({}), Buffer.from("{}")], ["m", "x"]],
  ])("a message %s is the end of trust", (_what, payloads, types) => {
    const { frames: rich } = frames()
    const last = types.length - 1
    for (let at = 0; at < last; at += 1) rich.take(types[at]!, payloads[at]!)
    expect(codeOf(() => rich.take(types[last]!, payloads[last]!))).toBe("SANDBOX_BROKEN")
  })
})
