// Each of these holds for a text when it holds for its beginning, so that what is redacted once is not redacted anew.

/** Whether text of this kind is rather made by a machine, or by someone who was told to mix characters. */
export function looksRandom(text: string): boolean {
  if (text.length < 8) return false
  let digits = 0
  let letters = 0
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    if (unit >= 48 && unit <= 57) digits += 1
    else if ((unit | 32) >= 97 && (unit | 32) <= 122) letters += 1
  }
  if (digits === 0 || letters < 2) return false
  return (digits >= 2 || /[!@#$%^&*?+/=~]/.test(text)) && new Set(text).size >= 6
}

/** The same with less care: for places where a secret is to be expected. */
export function looksEncoded(text: string): boolean {
  return looksRandom(text) || (text.length >= 12 && count(text, /[a-z][A-Z]/g) >= 2) || /\d/.test(text)
}

// A member of some object, a date, a call: code and prose, not a value.
const NO_VALUE =
  /^(?:(?:process|os|self|this|env|config|settings|import|hashlib|base64|crypto|secrets|uuid|json|jwt)\.|\d{4}-\d\d-\d\dT|https?:)/
// What is beside a secret, and not one: how it is made, where it is, how long it is.
const NO_NAME =
  /^(?:tokeni[sz]|secretar|passwordless)|[_.-]?(?:url|uri|endpoint|path|file|dir|type|count|limit|length|ttl|expiry|policy|hint)["'`\\]*[ \t]*[:=]/i

/** Whether what is given to a name such as `token` is likely one. */
export function looksAssigned(text: string, name: string): boolean {
  return looksRandom(text) && !NO_VALUE.test(text) && !NO_NAME.test(name)
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0
}
