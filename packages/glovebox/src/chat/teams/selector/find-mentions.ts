const WORD = String.raw`[\p{L}\p{N}_]`

/** Finds who is named in a text. */
export type FindMentions = (text: string) => readonly string[]

/** Makes a search for names as whole words; models also write "_" as a space or with a backslash, and change case. */
export function mentionFinder(names: readonly string[]): FindMentions {
  // The longest first, so that "lead writer" is lead_writer and not writer.
  const patterns = names.toSorted((a, b) => b.length - a.length).map(pattern)
  const source = `(?<!${WORD})(?:${patterns.join("|")})(?!${WORD})`
  const exact = new RegExp(source, "gu")
  const anyCase = new RegExp(source, "giu")
  return (text) => {
    const found = mentions(text, exact, names, plain)
    return found.length > 0 ? found : mentions(text, anyCase, names, (name) => plain(name).toLowerCase())
  }
}

// Names are letters, digits and "_", so that nothing of them needs an escape.
function pattern(name: string): string {
  return name.replaceAll("_", (_match, at: number) =>
    at === 0 || at === name.length - 1 ? String.raw`\\?_` : String.raw`(?:\\?_| )`,
  )
}

function mentions(
  text: string,
  regExp: RegExp,
  names: readonly string[],
  keyOf: (name: string) => string,
): readonly string[] {
  const keys = new Set([...text.matchAll(regExp)].map(([match]) => keyOf(match)))
  return names.filter((name) => keys.has(keyOf(name)))
}

function plain(name: string): string {
  return name.replaceAll("\\", "").replaceAll(" ", "_")
}
