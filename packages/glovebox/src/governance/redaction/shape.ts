/** One step of a shape: exact text, one of several texts, or a run of characters. */
export type ShapePart =
  | string
  | { readonly anyOf: readonly string[]; readonly caseless?: boolean }
  /** A regular expression's class, and how many of it. */
  | { readonly run: string; readonly min: number; readonly max: number }

/** What a kind of secret looks like. Of bounded length, so that a stream knows how long to wait. */
export interface Shape {
  readonly kind: string
  /** What stands before the secret, and stays. */
  readonly before?: readonly ShapePart[]
  readonly secret: readonly ShapePart[]
  /** What must follow, and stays. */
  readonly after?: readonly ShapePart[]
  /** Characters that belong to the secret as long as they come: a class. */
  readonly tail?: string
  /** Characters that cannot stand right before it: a class. */
  readonly notAfter?: string
  /** A last look at the secret, without its tail, and at what stands before it. */
  readonly accepts?: (secret: string, before: string) => boolean
}

/** Captures what stands before the secret, and the secret. */
export function wholeSource({ notAfter, before = [], secret, after = [] }: Shape): string {
  return `${lookBehind(notAfter)}(${sourceOf(before)})(${sourceOf(secret)})${sourceOf(after)}`
}

/** Matches a beginning of the shape that the end of the text cuts off. */
export function partialSource({ notAfter, before = [], secret, after = [] }: Shape): string {
  let rest = "(?!)"
  for (const part of [...before, ...secret, ...after].toReversed()) rest = partialPart(part, rest)
  return `${lookBehind(notAfter)}${rest}`
}

/** How many characters it spans at most, without its tail. */
export function maxLength({ before = [], secret, after = [] }: Shape): number {
  return [...before, ...secret, ...after].reduce((sum, part) => sum + partLength(part), 0)
}

export function escapeSource(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`)
}

function lookBehind(notAfter: string | undefined): string {
  return notAfter === undefined ? "" : `(?<!${notAfter})`
}

function sourceOf(parts: readonly ShapePart[]): string {
  return parts
    .map((part) => {
      if (typeof part === "string") return escapeSource(part)
      if ("anyOf" in part)
        return `(?:${part.anyOf.map((text) => letters(text, part.caseless).join("")).join("|")})`
      return `${part.run}{${part.min},${part.max}}`
    })
    .join("")
}

function partialPart(part: ShapePart, rest: string): string {
  if (typeof part === "string") return nest(letters(part), rest)
  // At its longest a run is not cut off: what comes next is.
  if ("run" in part) return `(?:${part.run}{0,${part.max - 1}}$|${part.run}{${part.min},${part.max}}${rest})`
  const cut = part.anyOf.map((text) => nest(letters(text, part.caseless), "(?!)")).join("|")
  return `(?:${sourceOf([part])}${rest}|${cut})`
}

function nest(steps: readonly string[], rest: string): string {
  return steps.toReversed().reduce((inner, step) => `(?:$|${step}${inner})`, rest)
}

function letters(text: string, caseless = false): string[] {
  return text
    .split("")
    .map((letter) =>
      caseless && /[a-z]/i.test(letter)
        ? `[${letter.toLowerCase()}${letter.toUpperCase()}]`
        : escapeSource(letter),
    )
}

function partLength(part: ShapePart): number {
  if (typeof part === "string") return part.length
  return "run" in part ? part.max : Math.max(...part.anyOf.map((text) => text.length))
}
