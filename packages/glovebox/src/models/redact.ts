// What providers' keys look like; they are cut also where a message shows another key than ours.
const KEY_LIKE = /\b(?:sk|pk|rk|key|Bearer)[-_ ][\w*.-]{8,}/gi

/** The text without the secrets, and without anything that looks like a key. */
export function redact(text: string, secrets: readonly string[]): string {
  let clean = text
  for (const secret of secrets) {
    // A very short one would cut words apart, and is no secret.
    if (secret.length >= 4) clean = clean.replaceAll(secret, "[key]")
  }
  return clean.replace(KEY_LIKE, "[key]")
}
