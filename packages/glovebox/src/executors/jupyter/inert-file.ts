import type { RichContent } from "../rich-output.ts"

/** A file for what was shown. */
export interface InertFile {
  readonly extension: string
  readonly content: Uint8Array
}

// Nothing is loaded and no script runs; the sandbox below says the same a second time.
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:"

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
      const frame = `<iframe sandbox="" srcdoc="${escapeAttribute(content.data)}"></iframe>`
      return textFile("html", page(frame))
    }
    case "svg": {
      const data = Buffer.from(content.data, "utf8").toString("base64")
      return textFile("svg.html", page(`<img alt="" src="data:image/svg+xml;base64,${data}">`))
    }
    case "json":
      return textFile("json", JSON.stringify(content.data, undefined, 2))
    case "latex":
      return textFile("tex", content.data)
    case "markdown":
      return textFile("md", content.data)
    case "text":
    case "other":
  }
  return undefined
}

function page(body: string): string {
  return `<!doctype html>
<html>
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="referrer" content="no-referrer">
<style>html, body { margin: 0; height: 100% } iframe { border: 0; width: 100%; height: 100% } img { max-width: 100% }</style>
</head>
<body>${body}</body>
</html>
`
}

function escapeAttribute(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll('"', "&quot;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
}

function textFile(extension: string, text: string): InertFile {
  return { extension, content: new Uint8Array(Buffer.from(text, "utf8")) }
}
