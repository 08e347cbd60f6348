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
  const decoded = decode(path)
  if (decoded === undefined) return "encodes bytes that are not UTF-8"
  // Some servers take letters for the plain ones that they look like.
  const plain = decoded.normalize("NFKC")
  const segments = plain.split("/")
  if (segments.length !== path.split("/").length || /[\\%]/.test(plain))
    return "hides a character by percent-encoding"
  // Some servers cut a segment at a semicolon before they look for dots, or drop blanks.
  if (segments.some((segment) => /^[.\s]+(?:;|$)/.test(segment))) return "has a segment of dots"
  return undefined
}

function decode(path: string): string | undefined {
  try {
    return decodeURIComponent(path)
  } catch {
    return undefined
  }
}
