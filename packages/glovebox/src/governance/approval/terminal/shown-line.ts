/** A line of what is shown; a number tells it apart from what we say ourselves. */
export interface ShownLine {
  readonly text: string
  readonly number: number | undefined
}

export function plain(text: string): ShownLine {
  return { text, number: undefined }
}

export function numbered(text: string, index: number): ShownLine {
  return { text, number: index + 1 }
}

/**
 * Rows that fit a terminal, each with its mark: a long line would go on at the left edge, where it could pass for
 * something that we say.
 */
export function rowsOf(lines: readonly ShownLine[], columns: number): readonly string[] {
  const most = lines.reduce((so, { number = 0 }) => Math.max(so, number), 0)
  const digits = String(most).length
  const width = Math.max(20, columns - digits - 4)
  return lines.flatMap(({ text, number }) => {
    const [first = "", ...rest] = wrapped(text, width)
    const mark = number === undefined ? " ".repeat(digits + 1) : `${String(number).padStart(digits)} `
    const next = " ".repeat(digits + 1)
    return [`${mark}| ${first}`, ...rest.map((row) => `${next}: ${row}`)]
  })
}

// Wide characters take two columns; what may be one is taken for one, which only makes a row shorter.
function wrapped(text: string, width: number): readonly string[] {
  const rows: string[] = []
  // Most code is plain, and there may be a megabyte of it.
  if (/^[ -~]*$/.test(text)) {
    for (let from = 0; from < text.length; from += width) rows.push(text.slice(from, from + width))
    return rows
  }
  let row = ""
  let used = 0
  for (const character of text.replaceAll("\t", "    ")) {
    const takes = (character.codePointAt(0) ?? 0) < 0x1100 ? 1 : 2
    if (used + takes > width) {
      rows.push(row)
      row = ""
      used = 0
    }
    row += character
    used += takes
  }
  return [...rows, row]
}
