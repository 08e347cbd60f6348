/** Rows as aligned text: the first column to the left, numbers to the right. */
export function formatTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  )
  const formatRow = (row: readonly string[]): string =>
    widths
      .map((width, column) => {
        const cell = row[column] ?? ""
        return column === 0 ? cell.padEnd(width) : cell.padStart(width)
      })
      .join("   ")
      .trimEnd()
  return [header, ...rows].map(formatRow).join("\n")
}
