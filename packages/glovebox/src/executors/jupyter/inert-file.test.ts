import { describe, expect, it } from "vitest"
import type { RichContent } from "../rich-output.ts"
import { inertFile, sizeOf } from "./inert-file.ts"

function textOf(content: RichContent): string {
  return Buffer.from(inertFile(content)?.content ?? []).toString()
}

function html(data: string): RichContent {
  return { type: "html", mime: "text/html", data }
}

// What a browser gets as the document of the frame.
function framed(data: string): string {
  const shown = /srcdoc="([^"]*)"/.exec(textOf(html(data)))?.[1] ?? ""
  return shown
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&")
}

const HOSTILE = `"></iframe><script>alert(1)</script><img src=x onerror="alert(2)">&amp;'`

describe("inertFile", () => {
  it("HTML is in a frame that may run nothing, behind a policy that loads nothing, outside and in it", () => {
    const page = textOf(html(HOSTILE))
    const [, frame] = /<body>([^]*)<\/body>/.exec(page) ?? []
    expect(frame).toMatch(/^<iframe sandbox="" srcdoc="[^"<>]*"><\/iframe>$/)
    for (const document of [page, framed(HOSTILE)]) {
      expect(document).toMatch(
        /<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:">\n<meta http-equiv="x-dns-prefetch-control" content="off">/,
      )
    }
    // What the frame shows is what was given, but for tags that reach out.
    expect(framed(HOSTILE).endsWith(HOSTILE.replace("</iframe>", "&lt;/iframe>"))).toBe(true)
  })

  it.each([
    '<link rel="preconnect" href="https://x.example">',
    "<LINK\nrel=preconnect href=//x.example>",
    "<iframe/src=https://x.example></iframe>",
    "<meta http-equiv=refresh content='0;url=https://x.example'>",
    "<base href=https://x.example/>",
    "<object data=https://x.example></object><embed\tsrc=https://x.example>",
    "<frameset><frame src=https://x.example></frameset>",
    "<portal src=https://x.example></portal><fencedframe></fencedframe>",
    "<noscript><\u0000link></noscript><svg><foreignObject><link\frel=preconnect></foreignObject></svg>",
  ])("%j reaches nothing: its tags are text", (markup) => {
    const reaching = /<\/?(link|i?frame|frameset|meta|base|object|embed|portal|fencedframe)[\s/>]/i
    const head = framed("")
    expect(framed(markup).slice(head.length)).not.toMatch(reaching)
    expect(framed(markup).slice(head.length).replaceAll("&lt;", "<")).toBe(markup)
  })

  it("tags that only look alike are left as they are", () => {
    const drawn = "<svg><metadata>m</metadata><linearGradient/></svg><table><tr><td>1 < 2 <b>x</b>"
    expect(framed(drawn).endsWith(drawn)).toBe(true)
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
    expect(textOf({ type: "json", mime: "application/json", data: { a: [1] } })).toBe('{"a":[1]}')
    expect(inertFile({ type: "text", mime: "text/plain", data: "x" })).toBeUndefined()
    expect(inertFile({ type: "other", mime: "application/javascript", data: "x" })).toBeUndefined()
  })
})

describe("sizeOf", () => {
  it.each([
    ["escaped HTML", html('"<>&\u20AC')],
    ["HTML that reaches out", html("<link><link>")],
    ["SVG", { type: "svg", mime: "image/svg+xml", data: "<svg>\u20AC</svg>" }],
    ["JSON", { type: "json", mime: "application/json", data: { a: ["\u20AC"] } }],
    ["JSON that is text", { type: "json", mime: "application/json", data: "\u0001" }],
    ["LaTeX", { type: "latex", mime: "text/latex", data: "\u20AC" }],
  ] as const)("of %s is that of its file, in bytes", (_what, content: RichContent) => {
    const empty = content.type === "json" ? 0 : textOf({ ...content, data: "" } as RichContent).length
    expect(sizeOf(content)).toBe(inertFile(content)!.content.length - empty)
  })

  it("of what has no file is that of its data", () => {
    expect(sizeOf({ type: "text", mime: "text/plain", data: "\u20AC" })).toBe(3)
    expect(sizeOf({ type: "other", mime: "a/b", data: [1, 2] })).toBe(5)
    expect(sizeOf({ type: "gif", mime: "image/gif", data: new Uint8Array(7) })).toBe(7)
  })
})
