import { looksAssigned, looksEncoded, looksRandom } from "./looks-random.ts"
import type { Shape, ShapePart } from "./shape.ts"

const VALUE = String.raw`[\w\-+/=.~!@#$%^&*?]`
const CREDENTIAL = String.raw`[\w\-.~+/=]`
const SPACE: ShapePart = { run: String.raw`[ \t]`, min: 0, max: 4 }
const QUOTE: ShapePart = { run: String.raw`["'\`\\]`, min: 0, max: 3 }
const EQUALS: ShapePart = { run: "[:=]", min: 1, max: 2 }

const SECRET_WORDS: ShapePart = {
  anyOf: [
    ..."password passwd passphrase pwd secret token credential".split(" "),
    ..."apikey api_key api-key accesskey access_key access-key accountkey account_key".split(" "),
    ..."privatekey private_key authkey auth_key encryption_key signing_key sharedaccesskey".split(" "),
  ],
  caseless: true,
}

function authorization(parts: readonly ShapePart[], accepts: (secret: string) => boolean): Shape {
  return {
    kind: "authorization",
    before: [{ anyOf: ["authorization"], caseless: true }, QUOTE, SPACE, EQUALS, SPACE, QUOTE, ...parts],
    secret: [{ run: CREDENTIAL, min: 8, max: 64 }],
    tail: CREDENTIAL,
    accepts,
  }
}

/** Secrets that are known by what stands beside them. */
export const ASSIGNMENT_SHAPES: readonly Shape[] = [
  authorization(
    [
      { run: "[A-Za-z]", min: 1, max: 16 },
      { run: " ", min: 1, max: 2 },
    ],
    looksEncoded,
  ),
  authorization([], looksRandom),
  {
    kind: "bearer-token",
    before: [{ anyOf: ["bearer "], caseless: true }],
    secret: [{ run: CREDENTIAL, min: 12, max: 64 }],
    tail: CREDENTIAL,
    accepts: looksRandom,
  },
  {
    kind: "cookie",
    before: [
      { anyOf: ["cookie:"], caseless: true },
      SPACE,
      { run: String.raw`[\w.\-]`, min: 1, max: 64 },
      "=",
    ],
    secret: [{ run: String.raw`[\w%.\-+/=]`, min: 6, max: 6 }],
    tail: String.raw`[\w%.\-+/=;: ]`,
  },
  {
    kind: "connection-password",
    before: ["://", { run: String.raw`[^\s:@/"'<>[\]]`, min: 0, max: 128 }, ":"],
    secret: [{ run: String.raw`[^\s@/"'<>]`, min: 1, max: 256 }],
    after: ["@"],
  },
  {
    kind: "signature",
    before: [{ anyOf: ["?sig=", "&sig=", "X-Amz-Signature=", "X-Goog-Signature="] }],
    secret: [{ run: String.raw`[\w%\-+/]`, min: 24, max: 24 }],
    tail: String.raw`[\w%\-+/=]`,
  },
  {
    kind: "secret",
    before: [SECRET_WORDS, { run: String.raw`[\w.\-]`, min: 0, max: 24 }, QUOTE, SPACE, EQUALS, SPACE, QUOTE],
    secret: [{ run: VALUE, min: 8, max: 64 }],
    tail: VALUE,
    accepts: looksAssigned,
  },
  {
    kind: "secret",
    before: [
      "--",
      { run: String.raw`[a-z\-]`, min: 0, max: 24 },
      SECRET_WORDS,
      { run: "[ ]", min: 1, max: 2 },
      QUOTE,
    ],
    secret: [{ run: VALUE, min: 8, max: 64 }],
    tail: VALUE,
    accepts: looksAssigned,
  },
]
