import { describe, expect, it } from "vitest"
import { failureError } from "./model-failure.ts"
import { redact } from "./redact.ts"

describe("redact()", () => {
  it.each([
    ["the whole secret", "bad 0f1e2d3c4b5a", ["0f1e2d3c4b5a"], "bad [key]"],
    ["a header's part after its scheme", "bad 0f1e2d3c4b5a", ["Token 0f1e2d3c4b5a"], "bad [key]"],
    ["a secret written for a URL", "bad a%2Fb%2Bc%3Dd", ["a/b+c=d"], "bad [key]"],
    ["a secret written for JSON", 'bad \\"abc\\"', ['"abc"'], "bad [key]"],
    [
      "another key",
      "Incorrect API key provided: sk-proj-1234567890",
      [],
      "Incorrect API key provided: [key]",
    ],
    [
      "what a provider leaves of a key",
      "no: sk-pr********************a1b2, no: *****a1b2",
      [],
      "no: [key], no: [key]",
    ],
    ["a token", "no: eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_1", [], "no: [key]"],
  ])("cuts %s", (_name, text, secrets, clean) => {
    expect(redact(text, secrets)).toBe(clean)
  })

  it("leaves words alone", () => {
    const text = "The key parameters of the bearer authentication: key-value, sk-learn, *** and * a *"
    expect(redact(text, ["", "a"])).toBe(text)
  })
})

describe("failureError()", () => {
  const secret = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
  const context = { provider: "X", endpoint: "http://x", model: "m", secrets: () => [secret] }

  it("shows no part of a key, wherever its message is cut", () => {
    for (let before = 460; before <= 510; before += 1) {
      const error = failureError({ status: 500, message: `${"x".repeat(before)}${secret}` }, context, 1)
      expect(`${error.message} ${String(error.cause)}`).not.toMatch(/0f1e/)
      const page = `<html>${"x".repeat(before - 440)}${secret}`
      expect(failureError({ status: 500, message: page }, context, 1).message).not.toMatch(/0f1e/)
    }
  })

  it("shows no control characters of a server", () => {
    expect(failureError({ status: 500, message: "a\u001B[2Jb\u0000c" }, context, 1).message).toMatch(
      /: a \[2Jb c$/,
    )
  })
})
