import { describe, expect, it } from "vitest"
import type { RichContent } from "../rich-output.ts"
import { inertFile } from "./inert-file.ts"

function textOf(content: RichContent): string {
  return Buffer.from(inertFile(content)?.content ?? []).toString()
}

const HOSTILE = `"></iframe><script>alert(1)</script><img src=x onerror="alert(2)">&amp;'`

describe("inertFile", () => {
  it("HTML is in a frame that may run nothing, behind a policy that loads nothing", () => {
    const page = textOf({ type: "html", mime: "text/html", data: HOSTILE })
    expect(page).toMatch(
      /content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:"/,
    )
    const [, frame] = /<body>([^]*)<\/body>/.exec(page) ?? []
    expect(frame).toMatch(/^<iframe sandbox="" srcdoc="[^"<>]*"><\/iframe>$/)
    // What the frame shows is what was given.
    const shown = /srcdoc="([^"]*)"/.exec(page)?.[1] ?? ""
    const text = shown
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
      .replaceAll("&quot;", '"')
      .replaceAll("&amp;", "&")
    expect(text).toBe(HOSTILE)
  })

  it("SVG is an image, in which no script runs", () => {
    const page = textOf({ type: "svg", mime: "image/svg+xml", data: "<svg onload='alert(1)'/>" })
    const [, body] = /<body>([^]*)<\/body>/.exec(page) ?? []
    expect(body).toMatch(/^<img alt="" src="data:image\/svg\+xml;base64,[\w+/=]+">$/)
  })

  it("other kinds are files as they are, and some are none", () => {
    const bytes = new Uint8Array([1, 2])
    expect(inertFile({ type: "png", mime: "image/png", data: bytes })).toEqual({
      extension: "png",
      content: bytes,
    })
    expect(inertFile({ type: "jpeg", mime: "image/jpeg", data: bytes })?.extension).toBe("jpg")
    expect(textOf({ type: "json", mime: "application/json", data: { a: 1 } })).toBe('{\n  "a": 1\n}')
    expect(inertFile({ type: "text", mime: "text/plain", data: "x" })).toBeUndefined()
    expect(inertFile({ type: "other", mime: "application/javascript", data: "x" })).toBeUndefined()
  })
})
