import { expect, it } from "vitest"
import type { JsonObject } from "../../core/index.ts"
import { Redactor } from "../../governance/index.ts"
import { redactState } from "./redact-state.ts"

const SECRET = "horse-staple"
const redactor = new Redactor({ environment: false, values: { db: SECRET } })

it("takes secrets out of what is kept, which stays what it is", () => {
  const picture = { type: "Image", mediaType: "image/png", data: Buffer.from(SECRET).toString("base64") }
  const seen = { type: "UserMessage", content: ["a", picture] }
  const call = { id: "c1", name: "run" }
  const said = { type: "AssistantMessage", thought: "fine", thoughtSignature: "c2ln" }
  const messages: JsonObject[] = [
    seen,
    { type: "AssistantMessage", content: [{ ...call, arguments: `{"code":"print('${SECRET}')"}` }] },
    { ...said, content: `it is ${SECRET}` },
    { ...said, content: "b", thought: `so ${SECRET}` },
  ]
  expect(redactState({ messages, count: 3, none: null }, redactor)).toEqual({
    messages: [
      seen,
      { type: "AssistantMessage", content: [{ ...call, arguments: `{"code":"print('[redacted:db]')"}` }] },
      { ...said, content: "it is [redacted:db]" },
      // A provider refuses words that it did not sign.
      { type: "AssistantMessage", content: "b" },
    ],
    count: 3,
    none: null,
  })
})
