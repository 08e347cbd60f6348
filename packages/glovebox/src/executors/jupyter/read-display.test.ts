import { describe, expect, it } from "vitest"
import { type Display, readDisplay } from "./read-display.ts"

const PNG = Buffer.from("89504e470d0a1a0a00", "hex")

function read(
  content: unknown,
  kind: Parameters<typeof readDisplay>[0] = "display_data",
): Display | undefined {
  return readDisplay(kind, Buffer.from(typeof content === "string" ? content : JSON.stringify(content)))
}

describe("readDisplay", () => {
  it("reads every form, with its type", () => {
    const data = {
      "text/plain": "plain",
      "text/html": ["<b>", "x</b>"],
      "image/png": `${PNG.toString("base64").slice(0, 4)}\n${PNG.toString("base64").slice(4)}`,
      "application/json": { a: [1, null, "x"] },
      "application/vnd.custom+json": 1,
      "text/x-unknown": "raw",
    }
    expect(read({ data, metadata: {}, transient: { display_id: "id" } })).toEqual({
      action: "show",
      displayId: "id",
      contents: [
        { type: "text", mime: "text/plain", data: "plain" },
        { type: "html", mime: "text/html", data: "<b>x</b>" },
        { type: "png", mime: "image/png", data: new Uint8Array(PNG) },
        { type: "json", mime: "application/json", data: { a: [1, null, "x"] } },
        { type: "json", mime: "application/vnd.custom+json", data: 1 },
        { type: "other", mime: "text/x-unknown", data: "raw" },
      ],
      troubles: [],
    })
    expect(read({ data: {} }, "update_display_data")).toMatchObject({ action: "update" })
    expect(read({ data: {} }, "execute_result")).toMatchObject({ action: "show", displayId: undefined })
    expect(read({ wait: true }, "clear_output")).toEqual({ action: "clear", waits: true })
    expect(read({}, "clear_output")).toEqual({ action: "clear", waits: false })
  })

  it("what is no message is none", () => {
    for (const content of [
      "",
      "{",
      "[]",
      "null",
      "7",
      { data: [] },
      { data: 1 },
      { data: {}, transient: 1 },
    ]) {
      expect(read(content)).toBeUndefined()
    }
    expect(read(`{"data":{"a/b":[${"0,".repeat(300_000)}0]}}`)).toBeUndefined()
    expect(read(`{"data":{"application/json":${"[".repeat(64)}${"]".repeat(64)}}}`)).toBeUndefined()
    expect(read({ wait: "yes" }, "clear_output")).toBeUndefined()
  })

  it("an id may be a number or long, and what is neither is none", () => {
    const idOf = (display_id: unknown): unknown => {
      const display = read({ data: {}, transient: { display_id } })
      return display && "displayId" in display ? display.displayId : display
    }
    expect(idOf(5)).toBe("5")
    expect(idOf("x".repeat(256))).toBe("x".repeat(256))
    expect(idOf("x".repeat(300))).toMatch(/^sha256:[0-9a-f]{64}$/)
    expect(idOf("x".repeat(300))).not.toBe(idOf("x".repeat(301)))
    expect([idOf(undefined), idOf({ a: 1 }), idOf([1])]).toEqual([undefined, undefined, undefined])
  })

  it("the first forms are read, and what is beyond them is told", () => {
    const data = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`x/y${index}`, index]))
    const display = read({ data })
    expect(display).toMatchObject({ troubles: ["one beyond the first 32"] })
    expect(display).toHaveProperty("contents.length", 32)
  })

  it("base64 is read in time with its length", () => {
    for (const text of [" ", "A", "=", "= "]) {
      const data = { "image/png": `${text.repeat(100_000)}!` }
      expect(read({ data })).toMatchObject({ troubles: ['"image/png": not in base64'] })
    }
    expect(read({ data: { "image/png": "iVBO=Rw0K" } })).toMatchObject({
      troubles: ['"image/png": not in base64'],
    })
  })

  it("a form that is not what it says is left out, and told", () => {
    const data = {
      "image/png": Buffer.from("GIF89a").toString("base64"),
      "image/jpeg": "<svg>",
      "image/gif": 7,
      "text/html": { evil: true },
      "not a type": "x",
      ["x/".repeat(200)]: "x",
    }
    const display = read({ data })
    expect(display).toMatchObject({
      contents: [],
      troubles: [
        '"image/png": not such an image',
        '"image/jpeg": not in base64',
        '"image/gif": not in base64',
        '"text/html": not text',
        '"not a type": no media type',
        expect.stringMatching(/: no media type$/),
      ],
    })
  })

  it("names of prototypes are plain keys", () => {
    const display = read('{"data":{"application/json":{"__proto__":{"polluted":1}},"__proto__":{"a/b":1}}}')
    expect(display).toMatchObject({ contents: [{ type: "json" }] })
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })
})
