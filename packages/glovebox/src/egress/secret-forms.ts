/** A text, and what takes its place: as long, so that no length on its way becomes wrong. */
export type Replacement = readonly [found: string, put: string]

/** A value in the forms in which a server may give it back, each with the placeholder in the same form. */
export function secretForms(value: string, placeholder: string): readonly Replacement[] {
  const plain: Replacement[] = [
    [value, placeholder],
    [encodeURIComponent(value), placeholder],
    [JSON.stringify(value).slice(1, -1), placeholder],
    // As some writers of JSON escape a slash, and of HTML an ampersand.
    [value.replaceAll("/", String.raw`\/`), placeholder],
    [value.replaceAll("&", "&amp;"), placeholder],
  ]
  const encoded = [0, 1, 2].flatMap((offset): Replacement[] => {
    const [found, put] = [withinBase64(value, offset), withinBase64(placeholder, offset)]
    return [
      [found, put],
      [urlSafe(found), urlSafe(put)],
    ]
  })
  const forms = new Map([...plain, ...encoded].map(([found, put]) => [found, put.padEnd(found.length, "x")]))
  // The longest first: a form must not be found as a part of another.
  return [...forms].toSorted(([a], [b]) => b.length - a.length)
}

// The part that does not depend on what stands before and behind; base64 writes three bytes as four letters.
function withinBase64(text: string, offset: number): string {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(text, "latin1")])
  const [first, last] = [Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6)]
  return bytes.toString("base64").slice(first, last)
}

function urlSafe(base64: string): string {
  return base64.replaceAll("+", "-").replaceAll("/", "_")
}
