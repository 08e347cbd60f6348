const COMMENT = /^(?:#|\/\/|<!--)\s*filename\s*:/i
const QUOTES = ["`", '"', "'"]

/** The name that a comment `# filename: x.py` on the code's first line gives, as written; undefined without one. */
export function filenameDirective(code: string): string | undefined {
  const text = code.startsWith("\uFEFF") ? code.slice(1) : code
  const first = lineAt(text, 0)
  const line = (first.startsWith("#!") ? lineAt(text, first.length + 1) : first).trim()
  const comment = COMMENT.exec(line)?.[0]
  if (comment === undefined) return undefined
  if (!comment.startsWith("<")) return unquoted(line.slice(comment.length).trim())
  return line.endsWith("-->") ? unquoted(line.slice(comment.length, -"-->".length).trim()) : undefined
}

function lineAt(text: string, start: number): string {
  const end = text.indexOf("\n", start)
  return end === -1 ? text.slice(start) : text.slice(start, end)
}

function unquoted(name: string): string {
  const quote = QUOTES.find((mark) => name.length > 1 && name.startsWith(mark) && name.endsWith(mark))
  return quote === undefined ? name : name.slice(1, -1).trim()
}
