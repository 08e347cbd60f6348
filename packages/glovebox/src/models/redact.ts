// What providers' keys look like; they are cut also where a message shows another key than ours. A word has no digit.
const KEY_LIKE =
  /\b(?:(?:sk|pk|rk|key)[-_]|Bearer |AIza|eyJ)(?=[\w*.+/-]*[\d*])[\w*.+/-]{8,}|\*{4,}[\w-]{2,8}\b/gi

// A very short one would cut words apart, and is no secret.
const MIN_LENGTH = 4
// What stands beside a key in a header, such as "Bearer", is shorter.
const MIN_PART_LENGTH = 8

/** The text without the secrets, and without anything that looks like a key. */
export function redact(text: string, secrets: readonly string[]): string {
  let clean = text
  for (const secret of secrets.flatMap(forms)) clean = clean.replaceAll(secret, "[key]")
  return clean.replace(KEY_LIKE, "[key]")
}

/** A secret as a server may repeat it: whole, without its scheme, or written for a URL or for JSON. */
function forms(secret: string): string[] {
  const parts = secret.split(/\s+/).filter((part) => part.length >= MIN_PART_LENGTH)
  return [secret, secret.trim(), ...parts]
    .flatMap((form) => [form, encodeURIComponent(form), JSON.stringify(form).slice(1, -1)])
    .filter((form) => form.length >= MIN_LENGTH)
}
