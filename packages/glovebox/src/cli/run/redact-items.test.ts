import { describe, expect, it } from "vitest"
import { type ChatItem, ModelClientStreamingChunkEvent, TextMessage } from "../../chat/messages/index.ts"
import { Redactor } from "../../governance/index.ts"
import { redactItems } from "./redact-items.ts"

const KEY = "sk-live-0123456789abcdefghij"
const redactor = new Redactor({ variables: { MY_KEY: KEY } })

async function clean(...items: readonly ChatItem[]): Promise<readonly string[]> {
  async function* all(): AsyncGenerator<ChatItem> {
    for (const item of items) yield await Promise.resolve(item)
  }
  const texts: string[] = []
  for await (const item of redactItems(all(), redactor)) texts.push(JSON.stringify(item))
  return texts
}

const piece = (content: string): ChatItem => ModelClientStreamingChunkEvent({ content, source: "a" })

describe("redactItems", () => {
  it("finds a secret between two pieces, and passes what is none at once", async () => {
    const texts = await clean(
      piece("Here: "),
      piece(KEY.slice(0, 12)),
      piece(KEY.slice(12)),
      piece(" is it."),
    )
    expect(texts.map((text) => (JSON.parse(text) as { content: string }).content).join("")).toBe(
      "Here: [redacted:MY_KEY] is it.",
    )
    expect(texts[0]).toContain("Here: ")
  })

  it("gives what it kept back before whatever comes next", async () => {
    const texts = await clean(
      piece(`so ${KEY.slice(0, 12)}`),
      TextMessage({ content: `${KEY}!`, source: "a" }),
    )
    const contents = texts.map((text) => (JSON.parse(text) as { content: string }).content)
    expect(contents.slice(0, -1).join("")).toBe(`so ${KEY.slice(0, 12)}`)
    expect(contents.at(-1)).toBe("[redacted:MY_KEY]!")
  })
})
