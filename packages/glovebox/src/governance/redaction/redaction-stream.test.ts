import { ReadableStream } from "node:stream/web"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Redactor } from "./index.ts"

const random = "q7Zt0vKx9LmW3nRb5cYd8sHf2gJp4kTa6uEw1iQz"
const values = { one: "horse-staple", two: "staple-battery9", six: "päss🧤word\nline2", rep: "abcabcabc" }
const redactor = new Redactor({ environment: false, values })

/** Pieces that make secrets, beginnings of secrets, and what is around them. */
const pieces = fc.oneof(
  fc.constantFrom(
    `sk-${random}`,
    `sk-ant-${random}`,
    "AKIAIOSFODNN7EXAMPLE",
    `Authorization: Bearer ${random}`,
    "postgres://me:hunter2@db/x",
    "://",
    ":x@",
    "password = ",
    "Tr0ub4dor&3",
    "-----BEGIN PRIVATE KEY-----\nMIIE\n",
    "-----END PRIVATE KEY-----",
    "[redacted:one]",
    "[redacted:",
    "staple",
    "abcabc",
    "token=",
    "sk-",
    "eyJhbGciOiJ",
    " ",
    "\n",
    "🧤",
    "a1",
  ),
  fc.constantFrom(...Object.values(values)),
  fc.constantFrom(...Object.values(values)).map((value) => Buffer.from(`x${value}`).toString("base64")),
  fc.string({ unit: "binary", maxLength: 6 }).filter((text) => !/[[\]]/.test(text)),
)
const texts = fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join(""))

function chunksOf(text: string, sizes: readonly number[]): string[] {
  const chunks: string[] = []
  for (let at = 0, turn = 0; at < text.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1
    chunks.push(text.slice(at, at + size))
    at += size
  }
  return chunks
}

function redactedIn(chunks: readonly string[], by = redactor): string[] {
  const stream = by.stream()
  return [...chunks.map((chunk) => stream.push(chunk)), stream.end()]
}

describe("a stream", () => {
  it("gives what the whole text gives, however it is cut", () => {
    fc.assert(
      fc.property(
        texts,
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 }),
        (text, sizes) => {
          expect(redactedIn(chunksOf(text, sizes)).join("")).toBe(redactor.text(text))
        },
      ),
      { numRuns: 100 },
    )
  })

  it("of single characters gives what the whole text gives, and what is redacted stays as it is", () => {
    fc.assert(
      fc.property(texts, (text) => {
        const whole = redactor.text(text)
        expect(redactedIn(text.split("")).join("")).toBe(whole)
        expect(redactor.text(whole)).toBe(whole)
      }),
      { numRuns: 50 },
    )
  })

  it("lets no registered value through, in no form and no chunks", () => {
    const forms: ((value: string) => string)[] = [
      (value) => value,
      (value) => JSON.stringify(value).slice(1, -1),
      (value) => JSON.stringify(JSON.stringify(value)).slice(3, -3),
      encodeURIComponent,
      (value) => Buffer.from(value).toString("base64"),
      (value) => Buffer.from(value).toString("base64url"),
      (value) => Buffer.from(value).toString("hex"),
      (value) => Array.from(value).join("\n"),
      // Output that is read byte by byte.
      (value) => Buffer.from(JSON.stringify(value).slice(1, -1)).toString("latin1"),
    ]
    const words = fc.string({ unit: "grapheme-composite", minLength: 8, maxLength: 24 })
    // What JSON escapes, beside what is no ASCII.
    const secrets = fc
      .oneof(
        words,
        words.map((value) => `${value}"ä`),
      )
      .filter((value) => !/[[\]\r\n]/.test(value) && new Set(value).size > 4 && value.trim().length > 7)
    fc.assert(
      fc.property(
        secrets,
        fc.constantFrom(...forms),
        fc.integer({ min: 1, max: 9 }),
        (secret, form, size) => {
          const by = new Redactor({ environment: false, values: { it: secret } })
          const text = `<${form(secret)}>`
          const clean = redactedIn(chunksOf(text, [size]), by).join("")
          expect(clean).not.toContain(form(secret))
          expect(clean).toContain("[redacted:it]")
        },
      ),
      { numRuns: 60 },
    )
  })

  it("keeps back only what may become a secret", () => {
    const out = redactedIn([
      "Enter your name: ",
      "hors",
      "e!",
      " sk",
      "i and AKIA",
      "IOSFODNN7EXAMPLE",
      "9 ",
      "!",
    ])
    expect(out).toEqual([
      "Enter your name: ",
      "",
      "horse!",
      " ",
      "ski and ",
      "[redacted:aws-access-key]",
      " ",
      "!",
      "",
    ])
  })

  it("keeps back a bounded piece of a text that never ends what it began", () => {
    for (const unit of ["\n", "a", "=", "://a", "password", "abcabc", "[redacted:", "sk-", "-----BEGIN "]) {
      const stream = redactor.stream()
      const sent = 200
      let out = ""
      for (let turn = 0; turn < sent; turn += 1) out += stream.push(`${unit} `)
      expect(out.length, unit).toBeGreaterThan(sent * (unit.length + 1) - 600)
    }
  })

  it("goes through a hostile text in one pass", () => {
    for (const unit of [
      "abcabc",
      "sk-",
      "://a:b",
      "token = ",
      "-----BEGIN PRIVATE KEY-----",
      "eyJhbGciOi",
      "\n",
    ]) {
      const text = unit.repeat(20_000 / unit.length)
      const stream = redactor.stream()
      expect(stream.push(text.slice(0, 10_000)) + stream.end(text.slice(10_000)), unit).toBe(
        redactor.text(text),
      )
    }
  })

  it("never cuts a character in two", () => {
    for (const piece of redactedIn("a🧤b🧤🧤".split(""))) expect(piece).not.toMatch(/\p{Cs}/u)
    expect(redactedIn(["\uD83E"])).toEqual(["", "\uD83E"])
  })

  it("knows what is registered while it runs", () => {
    const by = new Redactor({ environment: false })
    const stream = by.stream()
    expect(stream.push("a late-horse ")).toBe("a late-horse ")
    using _registration = by.register("late-horse", { name: "late" })
    expect(stream.push("a late-") + stream.push("horse ") + stream.end()).toBe("a [redacted:late] ")
  })

  it("keeps back what a user's pattern may need", () => {
    const by = new Redactor({
      environment: false,
      patterns: [{ name: "badge", pattern: /B-\d{4}/, maxLength: 6 }],
    })
    expect(redactedIn("it is B-12345".split(""), by).join("")).toBe("it is [redacted:badge]5")
    expect(redactedIn(["0123456789"], by)[0]).toBe("")
  })

  it("can be a web stream, and an iterable", async () => {
    const chunks = ["a horse", "-sta", "ple b", ""]
    const web = new ReadableStream<string>({
      start: (controller) => {
        for (const chunk of chunks) controller.enqueue(chunk)
        controller.close()
      },
    })
    const joined = async (parts: AsyncIterable<string>): Promise<string> => {
      let all = ""
      for await (const part of parts) all += part
      return all
    }
    expect(await joined(web.pipeThrough(redactor.transform()))).toBe("a [redacted:one] b")
    expect(await joined(redactor.iterate(chunks))).toBe("a [redacted:one] b")
  })
})
