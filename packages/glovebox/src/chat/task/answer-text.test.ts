import { expect, it } from "vitest"
import { StructuredMessage, TextMessage, ThoughtEvent, answerText } from "../index.ts"

const source = "assistant"

it.each([
  [[TextMessage({ source, content: "first" }), TextMessage({ source, content: "last" })], "last"],
  [[StructuredMessage({ source, content: { people: 3 }, formatString: "{people} people" })], "3 people"],
  [[TextMessage({ source, content: "said" }), ThoughtEvent({ source, content: "not said" })], ""],
  [[], ""],
])("answerText gives what was said last, in words %#", (messages, text) => {
  expect(answerText({ messages })).toBe(text)
})
