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
    expect(read({ data: {}, transient: { display_id: "x".repeat(257) } })).toBeUndefined()
    expect(read(`{"data":{"application/json":${"[".repeat(64)}${"]".repeat(64)}}}`)).toBeUndefined()
    expect(read({ wait: "yes" }, "clear_output")).toBeUndefined()
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
