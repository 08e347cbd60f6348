import { isSecretName } from "../secret-name.ts"

const SHORTEST_SECRET = 6

/** Takes keys that were sent in headers out of a text: a server may tell what it was sent. */
export function headerRedactor(headers: Readonly<Record<string, string>>): (text: string) => string {
  const secrets = Object.entries(headers)
    .filter(([name]) => isSecretName(name))
    // Without the word before it, such as Bearer.
    .map(([, value]) => value.replace(/^[A-Za-z]+ +/, "").trim())
    .filter(({ length }) => length >= SHORTEST_SECRET)
    .toSorted((a, b) => b.length - a.length)
  return (text) => secrets.reduce((rest, secret) => rest.replaceAll(secret, "[redacted]"), text)
}
