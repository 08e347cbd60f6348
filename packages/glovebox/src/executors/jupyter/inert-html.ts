// They load, connect or change where the page goes, and a policy does not keep browsers from all of it.
const REACHING = [
  "applet",
  "base",
  "embed",
  "fencedframe",
  "frame",
  "frameset",
  "iframe",
  "link",
  "meta",
  "object",
  "portal",
]
const TAG = new RegExp(String.raw`<(?=/?(?:${REACHING.join("|")})[\s/>])`, "gi")

const ESCAPES = new Map([
  ["&", "&amp;"],
  ['"', "&quot;"],
  ["<", "&lt;"],
  [">", "&gt;"],
])
// By code: how many characters an escape adds; all of them are below this.
const ADDED = new Uint8Array(64)
for (const [from, to] of ESCAPES) ADDED[from.charCodeAt(0)] = to.length - 1

/** HTML whose tags that reach out are text: `<link` is then what a reader sees, and not what a browser does. */
export function withoutReach(html: string): string {
  return html.replace(TAG, "&lt;")
}

export function escapeAttribute(text: string): string {
  return text.replace(/[&"<>]/g, (character) => ESCAPES.get(character)!)
}

/** How many bytes `escapeAttribute` gives, without making them. */
export function escapedSize(text: string): number {
  let size = Buffer.byteLength(text)
  for (let at = 0; at < text.length; at += 1) size += ADDED[text.charCodeAt(at)] ?? 0
  return size
}
