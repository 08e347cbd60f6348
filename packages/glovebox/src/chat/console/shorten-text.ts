interface Room {
  readonly lines: number
  readonly characters: number
}

/** The beginning of a text that is too long, with a count of what is left out. */
export function shortenText(text: string, { lines, characters }: Room): string {
  const all = text.trimEnd().split("\n")
  const shown = all.slice(0, lines).join("\n")
  if (shown.length > characters) {
    // A cut between two surrogates would leave half a character.
    const cut = shown.slice(0, characters).replace(/\p{Cs}$/u, "")
    return `${cut} … ${count(text.trimEnd().length - cut.length, "more character")}`
  }
  return all.length > lines ? `${shown}\n… ${count(all.length - lines, "more line")}` : shown
}

/** A number of things in words, such as "1 line" or "1,200 lines". */
export function count(amount: number, thing: string): string {
  return `${amount.toLocaleString("en")} ${thing}${amount === 1 ? "" : "s"}`
}
