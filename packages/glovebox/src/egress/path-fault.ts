/**
 * Why a path cannot be compared with the beginning of another: a server could read it as another path than it says.
 * Undefined for a plain one.
 */
export function pathFault(path: string): string | undefined {
  if (path.includes("\\")) return "has a backslash"
  if (path.includes("//")) return "has two slashes in a row"
  if (/%(?![0-9a-f]{2})/i.test(path)) return "has a percent sign that encodes nothing"
  // Encoded: a slash, a backslash, the percent sign itself, a semicolon, and what no path has.
  if (/%(?:2f|5c|25|3b|[01][0-9a-f]|7f)/i.test(path)) return "hides a character by percent-encoding"
  const segments = path.replaceAll(/%2e/gi, ".").split("/")
  // Some servers cut a segment at a semicolon before they look for dots.
  if (segments.some((segment) => /^\.{1,2}(?:;|$)/.test(segment))) return "has a segment of dots"
  return undefined
}
