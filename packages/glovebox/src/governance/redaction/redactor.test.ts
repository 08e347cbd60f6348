import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import { Redactor } from "./index.ts"

const random = "q7Zt0vKx9LmW3nRb5cYd8sHf2gJp4kTa6uEw1iQz"
const hex = "0123456789abcdef0123456789abcdef01234567"
const plain = new Redactor({ environment: false })

describe("known shapes", () => {
  it.each([
    ["openai-key", `sk-${random}`],
    ["openai-key", `sk-proj-${random}_${random}`],
    ["anthropic-key", `sk-ant-api03-${random}`],
    ["openrouter-key", `sk-or-v1-${hex}`],
    ["aws-access-key", "AKIAIOSFODNN7EXAMPLE"],
    ["google-api-key", `AIza${random.slice(0, 35)}`],
    ["google-oauth-token", `ya29.${random}`],
    ["github-token", `ghp_${random.slice(0, 36)}`],
    ["github-token", `github_pat_${random}_${random}`],
    ["gitlab-token", `glpat-${random.slice(0, 20)}`],
    ["atlassian-token", `ATATT3${random}=AB`],
    ["slack-token", `xoxb-123456789012-${random}`],
    ["stripe-key", `sk_live_${random}`],
    ["npm-token", `npm_${random.slice(0, 36)}`],
    ["pypi-token", `pypi-AgEIcHlwaS5vcmc${random}`],
    ["huggingface-token", `hf_${random.slice(0, 34)}`],
    ["groq-key", `gsk_${random}`],
    ["xai-key", `xai-${random}${random}`],
    ["replicate-token", `r8_${random}`],
    ["perplexity-key", `pplx-${random}`],
    ["sendgrid-key", `SG.${random.slice(0, 22)}.${random}`],
    ["mailgun-key", `key-${hex.slice(0, 32)}`],
    ["twilio-key", `SK${hex.slice(0, 32)}`],
    ["digitalocean-token", `dop_v1_${hex}${hex}`],
    ["vault-token", `hvs.${random}`],
    ["databricks-token", `dapi${hex}`],
    ["shopify-token", `shpat_${hex}`],
    ["docker-token", `dckr_pat_${random}`],
    ["linear-key", `lin_api_${random}`],
    ["grafana-token", `glsa_${random}`],
    ["sentry-token", `sntrys_${random}=_${random}`],
    ["postman-key", `PMAK-${hex}-${hex}`],
    ["age-key", `AGE-SECRET-KEY-1${random.toUpperCase()}`],
    ["jwt", `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.${random}`],
  ])("finds a %s", (kind, secret) => {
    expect(plain.text(`see ${secret}, and go on`)).toBe(`see [redacted:${kind}], and go on`)
  })

  it.each([
    ["Authorization: Bearer abcDEF123456", "Authorization: Bearer [redacted:authorization]"],
    ["authorization: Basic dXNlcjpwYXNzd29yZA==", "authorization: Basic [redacted:authorization]"],
    [`{"Authorization": "Token ${hex}"}`, `{"Authorization": "Token [redacted:authorization]"}`],
    [`-H 'Authorization: ${random}'`, "-H 'Authorization: [redacted:authorization]'"],
    [`the header was Bearer ${random}!`, "the header was Bearer [redacted:bearer-token]!"],
    ["Set-Cookie: sid=abc123def; Path=/", "Set-Cookie: sid=[redacted:cookie]"],
    ["postgres://app:hunter2@db:5432/x", "postgres://app:[redacted:connection-password]@db:5432/x"],
    ["redis://:p%40ss:w@cache", "redis://:[redacted:connection-password]@cache"],
    [
      `https://x.blob.example/?se=1&sig=${random}%3D&a=1`,
      "https://x.blob.example/?se=1&sig=[redacted:signature]&a=1",
    ],
    ["PASSWORD=Tr0ub4dor&3", "PASSWORD=[redacted:secret]"],
    [`aws_secret_access_key = ${random}/+=`, "aws_secret_access_key = [redacted:secret]"],
    [`{"clientSecret":"${random}","a":1}`, `{"clientSecret":"[redacted:secret]","a":1}`],
    [String.raw`"{\"api_key\":\"ab12cd34ef\"}"`, String.raw`"{\"api_key\":\"[redacted:secret]\"}"`],
    ["run --api-key ab12cd34ef56 now", "run --api-key [redacted:secret] now"],
    ["token: AKIAIOSFODNN7EXAMPLE", "token: [redacted:aws-access-key]"],
    [
      "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc+/=\n-----END RSA PRIVATE KEY-----\nok",
      "[redacted:private-key]-----END RSA PRIVATE KEY-----\nok",
    ],
    [
      String.raw`"-----BEGIN PRIVATE KEY-----\nMIIEow\n-----END PRIVATE KEY-----\n"`,
      String.raw`"[redacted:private-key]-----END PRIVATE KEY-----\n"`,
    ],
    [
      "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00FF\n\nMIIE\nab==\n-----END",
      "[redacted:private-key]-Type: 4,ENCRYPTED\nDEK-Info:[redacted:private-key]-----END",
    ],
  ])("finds the secret in %j", (text, clean) => {
    expect(plain.text(text)).toBe(clean)
    expect(plain.text(clean)).toBe(clean)
  })

  it.each([
    "The key parameters of the bearer authentication: key-value, sk-learn, and task-sk-1.",
    "a risk-assessment-for-2024-and-2025-in-one-report",
    "sk-learn-and-the-other-long-hyphenated-words",
    "password: required, token: string, secret = getSecret(), token = process.env.TOKEN_2024_X",
    '{"max_tokens":4096000000,"usage":{"total_tokens":123456789}}',
    "https://example.com:8080/path?q=a@b and http://[::1]:80/ and mailto:a@b",
    "Authorization: Basic authentication is old. Authorization: see chapter 12.",
    "token_expires: 2026-01-01T00:00:00Z",
    "-----BEGIN CERTIFICATE-----\nMIIEow\n-----END CERTIFICATE-----",
    "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "eyJ is how JSON begins in base64, ghp_ and AKIA and npm_install are beginnings",
    "[redacted:something] 🧤 \uD83E \r\n\t\0",
  ])("leaves %j alone", (text) => {
    expect(plain.text(text)).toBe(text)
  })

  it("of a user are found too, and win over known ones", () => {
    const redactor = new Redactor({
      environment: false,
      patterns: [
        { name: "badge", pattern: /\bB-(\d)\1{3}\b/i },
        { name: "any-k", pattern: /redacted|/ },
      ],
      replacement: "<{kind}>",
    })
    expect(redactor.text("b-7777 and B-7778, redacted")).toBe("<badge> and B-7778, <any-k>")
    expect(redactor.text("<badge> <any-k> <badg>")).toBe("<badge> <any-k> <badg>")
  })
})

describe("a registered value", () => {
  const secret = 'pä"s/w+d &1'

  it.each([
    ["as it is", secret],
    ["in JSON", JSON.stringify(secret)],
    ["in JSON in JSON", JSON.stringify(JSON.stringify(secret))],
    ["in JSON of ASCII", String.raw`p\u00e4\"s/w+d &1`],
    ["in a URL", encodeURIComponent(secret)],
    ["in a URL with small digits", encodeURIComponent(secret).toLowerCase()],
    ["in a form", new URLSearchParams({ a: secret }).toString()],
    ["in base64", Buffer.from(secret).toString("base64")],
    ["in base64url", Buffer.from(secret).toString("base64url")],
    ["in hexadecimal", Buffer.from(secret).toString("hex")],
    ["broken over lines", `${secret.slice(0, 4)}\r\n${secret.slice(4)}`],
  ])("is found %s", (_name, text) => {
    const redactor = new Redactor({ environment: false, values: { db: secret } })
    expect(redactor.text(`a ${text} b`)).toMatch(/^a ["\\]*(?:a=)?\[redacted:db\]["\\]* b$/)
  })

  it("is forgotten when the last who registered it disposes", () => {
    const redactor = new Redactor({ environment: false })
    const first = redactor.register("horse-staple", { name: "one" })
    const second = redactor.register("horse-staple", { name: "one" })
    first.dispose()
    first.dispose()
    expect(redactor.text("a horse-staple")).toBe("a [redacted:one]")
    second[Symbol.dispose]()
    expect(redactor.text("a horse-staple")).toBe("a horse-staple")
  })

  it("that overlaps another leaves no part of either", () => {
    const redactor = new Redactor({ environment: false, values: { one: "abcdefgh", two: "fghijklm" } })
    expect(redactor.text("<abcdefghijklm>")).toBe("<[redacted:one]>")
  })

  it.each([
    "",
    "1",
    "true",
    "abcde",
    "      ",
    "redacted",
    "password",
    "aaaaaaaaaa",
    "\uD800abcdefg",
    7 as never,
  ])("cannot be %j", (value) => {
    expect(failureOf(() => plain.register(value))).toMatch(/^OPTION_INVALID: /)
  })

  it("is not shown by a name", () => {
    const redactor = new Redactor({ environment: false, values: { "my-horse": "my-horse" } })
    expect(redactor.text("my-horse")).toBe("[redacted:secret]")
    redactor.register("another1", { name: "x-my-horse" })
    expect(redactor.text("another1")).toBe("[redacted:secret]")
  })

  it("hides in no placeholder that nobody made", () => {
    const redactor = new Redactor({ environment: false, values: { db: "horse-staple" } })
    expect(redactor.text("[redacted:horse-staple]")).toBe("[redacted:[redacted:db]]")
  })
})

describe("the environment", () => {
  const variables = {
    MY_API_KEY: "horse-staple",
    PGPASSWORD: "battery-ten",
    DATABASE_URL: "postgres://a:p%40ssword9@h/d",
    USE_TOKEN: "true",
    SSH_AUTH_SOCK: "/run/agent.sock",
    EDITOR_NAME: "Some Editor 9",
    LANG: "en_US.UTF-8",
    HOME: "/home/someone",
    WORD: "ordinary",
    NOT_SET: undefined,
  }
  const text =
    "horse-staple battery-ten p@ssword9 true /run/agent.sock Some Editor 9 en_US.UTF-8 /home/someone ordinary"

  it("gives the values of variables with secret names, and passwords in addresses", () => {
    expect(new Redactor({ variables }).text(text)).toBe(
      "[redacted:MY_API_KEY] [redacted:PGPASSWORD] [redacted:DATABASE_URL] true /run/agent.sock Some Editor 9 en_US.UTF-8 /home/someone ordinary",
    )
  })

  it("gives what is short and mixed, and what only begins like a path", () => {
    const secrets = {
      AWS_SECRET_ACCESS_KEY: "/k3jH8sLq0+pPzzQw1",
      DB_PASSWORD: "hunter2",
      API_TOKEN: "~aB3dE5gH7jK9",
    }
    const paths = {
      KEY_FILE: "~/keys/a.pem",
      TLS_KEY: "/etc/ssl/a.key",
      MY_KEY: "/Users/ada/k",
      AUTH: "github",
    }
    const redactor = new Redactor({ variables: { ...secrets, ...paths } })
    for (const value of Object.values(secrets)) expect(redactor.text(`<${value}>`)).not.toContain(value)
    for (const value of Object.values(paths)) expect(redactor.text(`<${value}>`)).toBe(`<${value}>`)
  })

  it("gives every value that is not ordinary, by option", () => {
    const clean = new Redactor({ variables, environment: "all" }).text(text)
    expect(clean).toContain("true /run/agent.sock [redacted:EDITOR_NAME] en_US.UTF-8 /home/someone ordinary")
  })
})

describe("data", () => {
  const redactor = new Redactor({ environment: false, values: { db: "horse-staple", pin: "12345678" } })

  it("is copied without secrets, with its keys", () => {
    const data = {
      password: "x1",
      token: "the",
      apiKey: "",
      pin: 12_345_678,
      list: ["a horse-staple", null, true, undefined, { Authorization: "Basic abc" }],
      "the horse-staple": 1,
      "also horse-staple": 2,
      at: new Date(0),
      bytes: Buffer.from("horse-staple"),
      map: new Map([["secret", "abc"]]),
    }
    const before = structuredClone(data)
    const clean = redactor.value(data)
    expect(clean).toEqual({
      password: "[redacted:secret]",
      token: "the",
      apiKey: "",
      pin: "[redacted:pin]",
      list: ["a [redacted:db]", null, true, undefined, { Authorization: "[redacted:secret]" }],
      "the [redacted:db]": 1,
      "also [redacted:db]": 2,
      at: new Date(0),
      bytes: "[redacted:db]",
      map: new Map([["secret", "[redacted:secret]"]]),
    })
    expect(data).toEqual({ ...before, bytes: data.bytes })
    expect(redactor.value(clean)).toEqual(clean)
  })

  it("that holds itself is refused, and shared parts are not", () => {
    const shared = { a: "b" }
    expect(redactor.value([shared, shared])).toEqual([shared, shared])
    const loop: unknown[] = []
    loop.push({ loop })
    expect(failureOf(() => redactor.value(loop))).toMatch(/^SERIALIZATION_FAILED: /)
  })

  it("may be errors: message, stack, fields and causes", () => {
    class OwnError extends TypeError {
      readonly detail = "horse-staple"
    }
    const error = new OwnError("bad horse-staple", { cause: new Error("for horse-staple") })
    const clean = redactor.error(error)
    expect(clean).toBeInstanceOf(OwnError)
    expect(clean).toMatchObject({ message: "bad [redacted:db]", detail: "[redacted:db]" })
    expect(clean.cause).toMatchObject({ message: "for [redacted:db]" })
    expect(clean.stack).toMatch(/bad \[redacted:db\]\n +at /)
    expect(error.message).toBe("bad horse-staple")
  })
})

describe("options", () => {
  it.each([
    { replacement: "" },
    { replacement: "{kind}{kind}" },
    { values: ["1"] },
    { pattern: [] },
    { values: { "a b": "horse-staple" } },
  ])("%j are refused", (options) => {
    expect(failureOf(() => new Redactor(options))).toMatch(/^OPTION_INVALID: /)
  })
})

describe("for every text", () => {
  it("that has no secret it changes nothing", () => {
    const redactor = new Redactor({ environment: false, values: ["horse-staple"] })
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 60 }), (text) => {
        fc.pre(!/[:=]|bearer |eyJ|horse/i.test(text))
        expect(redactor.text(text)).toBe(text)
      }),
    )
  })
})
