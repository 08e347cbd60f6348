import type { RichContent } from "../rich-output.ts"
import { escapeAttribute, escapedSize, withoutReach } from "./inert-html.ts"

/** A file for what was shown. */
export interface InertFile {
  readonly extension: string
  readonly content: Uint8Array
}

// Nothing is loaded and no script runs; the frame's sandbox says the same a second time.
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:"
const HEAD = `<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta http-equiv="x-dns-prefetch-control" content="off">
<meta name="referrer" content="no-referrer">
`

/**
 * The file in which a form of an output is kept, or undefined where a file is of no use. A page opened from a file may
 * run scripts with the reader's rights, so HTML is put into a frame that may not, and SVG into an image, which never does.
 */
export function inertFile(content: RichContent): InertFile | undefined {
  switch (content.type) {
    case "png":
    case "jpeg":
    case "gif":
      return { extension: content.type === "jpeg" ? "jpg" : content.type, content: content.data }
    case "html": {
      const shown = escapeAttribute(HEAD + withoutReach(content.data))
      return textFile("html", page(`<iframe sandbox="" srcdoc="${shown}"></iframe>`))
    }
    case "svg": {
      const data = Buffer.from(content.data, "utf8").toString("base64")
      return textFile("svg.html", page(`<img alt="" src="data:image/svg+xml;base64,${data}">`))
    }
    case "json":
      // Not indented: that multiplies what is nested deep.
      return textFile("json", JSON.stringify(content.data))
    case "latex":
      return textFile("tex", content.data)
    case "markdown":
      return textFile("md", content.data)
    case "text":
    case "other":
  }
  return undefined
}

/** The bytes that a form takes up, in its file or without one, whichever is more; a page's own frame is not counted. */
export function sizeOf(content: RichContent): number {
  const { type, data } = content
  if (type === "html") return escapedSize(withoutReach(data))
  if (data instanceof Uint8Array) return data.length
  const isText = typeof data === "string" && type !== "json"
  const size = Buffer.byteLength(isText ? data : JSON.stringify(data))
  return type === "svg" ? Math.ceil(size / 3) * 4 : size
}

function page(body: string): string {
  return `<!doctype html>
<html>
<head>
${HEAD}<style>html, body { margin: 0; height: 100% } iframe { border: 0; width: 100%; height: 100% } img { max-width: 100% }</style>
</head>
<body>${body}</body>
</html>
`
}

function textFile(extension: string, text: string): InertFile {
  return { extension, content: new Uint8Array(Buffer.from(text, "utf8")) }
}
