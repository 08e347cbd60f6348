// Each of these holds for a text when it holds for its beginning, so that what is redacted once is not redacted anew.

/** Whether text of this kind is rather made by a machine, or by someone who was told to mix characters. */
export function looksRandom(text: string): boolean {
  const digits = count(text, /\d/g)
  const lettersThere = count(text, /[a-z]/gi)
  if (text.length < 8 || new Set(text).size < 6 || digits === 0 || lettersThere < 2) return false
  return digits >= 2 || /[!@#$%^&*?+/=~]/.test(text)
}

/** The same with less care: for places where a secret is to be expected. */
export function looksEncoded(text: string): boolean {
  return looksRandom(text) || (text.length >= 12 && count(text, /[a-z][A-Z]/g) >= 2) || /\d/.test(text)
}

// A member of some object, a date, a call: code and prose, not a value.
const NO_VALUE = /^(?:(?:process|os|self|this|env|config|settings|import)\.|\d{4}-\d\d-\d\dT|https?:)/

/** Whether what is given to a name such as `token` is likely one. */
export function looksAssigned(text: string): boolean {
  return looksRandom(text) && !NO_VALUE.test(text)
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0
}
