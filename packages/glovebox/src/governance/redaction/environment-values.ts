// Words of a variable's name by which its value is a secret.
const SECRET_WORDS = new Set(
  "key keys apikey token tokens secret secrets pass password passwd passphrase credential credentials cookie dsn auth pat".split(
    " ",
  ),
)
const SECRET_END = /(?:password|passwd|secret|token|apikey)$/
// A shorter one is taken only where it is no word and no number.
const SURE_LENGTH = 8
// What many variables hold, and what texts are full of.
const COMMON = new Set(
  "true false none null undefined enabled disabled default production development localhost required optional anonymous password changeme".split(
    " ",
  ),
)
// A secret may begin with "/" or "~" too: a path goes on with a plain name.
const PATH_LIKE = /^(?:(?:~[\w.-]*|\.{1,2}|[a-zA-Z]:)[\\/]|\/[A-Za-z]?[a-z][a-z._-]*(?:\/|$))/
// Numbers, versions, names of languages, words: too common to be cut out of texts.
const ORDINARY = /^(?:[\d.,:_-]+|[a-z]+|[A-Z]+|[a-z]{2}_[A-Z]{2}[\w.@-]*)$/

const LONE_SURROGATE = /\p{Cs}/u

/** Whether a value is too short or too common to be told from other text, or is no whole text. */
export function isCommonValue(value: string): boolean {
  if (LONE_SURROGATE.test(value)) return true
  return value.trim().length < 6 || COMMON.has(value.trim().toLowerCase()) || new Set(value).size < 3
}

export interface EnvironmentSecret {
  readonly name: string
  readonly value: string
}

/** The secrets of an environment: by the variable's name, or with `all` each value that is not ordinary. */
export function environmentSecrets(
  variables: Readonly<Record<string, string | undefined>>,
  all: boolean,
): EnvironmentSecret[] {
  return Object.entries(variables).flatMap(([name, text]) => {
    const value = text?.trim() ?? ""
    const named = hasSecretName(name)
    const isOrdinary = isCommonValue(value) || (value.length < SURE_LENGTH && ORDINARY.test(value))
    if (isOrdinary || PATH_LIKE.test(value)) return passwordIn(name, value)
    if (!named && (!all || value.length < SURE_LENGTH || ORDINARY.test(value))) return passwordIn(name, value)
    return [{ name, value }, ...passwordIn(name, value)]
  })
}

function hasSecretName(name: string): boolean {
  const words = name.toLowerCase().split(/[^a-z0-9]+/)
  return words.some((word) => SECRET_WORDS.has(word) || SECRET_END.test(word))
}

// Of an address of a database the password is also used alone.
function passwordIn(name: string, value: string): EnvironmentSecret[] {
  const encoded = /^[a-z][a-z0-9+.-]{1,30}:\/\/[^\s:@/]{0,128}:([^\s@/]{6,256})@/i.exec(value)?.[1]
  if (encoded === undefined) return []
  const password = decoded(encoded)
  return isCommonValue(password) ? [] : [{ name, value: password }]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
