// A form that is shorter would be found where no secret is.
const MIN_FORM_LENGTH = 6

/** A value as it may appear: as it is, and in the encodings that programs and protocols put it in. */
export function encodedForms(value: string): string[] {
  const forms = [value, ...json(value), ...url(value), ...binary(value)]
  return [...new Set([...forms, ...forms.map(byteByByte)])].filter((form) => form.length >= MIN_FORM_LENGTH)
}

// For whoever reads output byte by byte.
function byteByByte(form: string): string {
  return Buffer.from(form, "utf8").toString("latin1")
}

// JSON inside JSON is common in logs, and some writers leave only ASCII.
function json(value: string): string[] {
  const once = JSON.stringify(value).slice(1, -1)
  const ascii = once.replace(
    /[\u0080-\uFFFF]/g,
    (unit) => String.raw`\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  )
  const forms = [once, ascii, once.replaceAll("/", String.raw`\/`)]
  return [...forms, ...forms.map((form) => JSON.stringify(form).slice(1, -1))]
}

// Writers differ in what they leave as it is, and in the case of the digits.
function url(value: string): string[] {
  const strict = encodeURIComponent(value).replace(/[!'()*]/g, percent)
  const forms = [strict, encodeURIComponent(value), encodeURI(value), strict.replaceAll("%2F", "/")]
  const withPlus = forms.map((form) => form.replaceAll("%20", "+"))
  return [...forms, ...withPlus].flatMap((form) => [
    form,
    form.replace(/%[0-9A-F]{2}/g, (found) => found.toLowerCase()),
  ])
}

function binary(value: string): string[] {
  const bytes = Buffer.from(value, "utf8")
  const hex = bytes.toString("hex")
  const whole = [bytes.toString("base64"), bytes.toString("base64url")]
  // Inside more text, such as "user:password", the value begins at any of three places of a group.
  const inside = [0, 1, 2].flatMap((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString("base64")
      .replace(/=+$/, "")
    const partial = (shift + bytes.length) % 3 === 0 ? 0 : 1
    const core = text.slice(Math.ceil((shift * 8) / 6), text.length - partial)
    return [core, core.replaceAll("+", "-").replaceAll("/", "_")]
  })
  return [...whole, ...inside, hex, hex.toUpperCase()]
}

function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}
