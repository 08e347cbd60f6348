// An agent of your own, without a model.
//   npx tsx examples/agents/own-agent.ts
import {
  BaseChatAgent,
  type ChatMessage,
  type Response,
  TextMessage,
  answerText,
  response,
  toText,
} from "glovebox"
import type { JsonObject } from "glovebox/core"

class Counter extends BaseChatAgent {
  #words = 0

  constructor(name: string) {
    super(name, "Counts the words of a conversation.")
  }

  // It is given only what is new, and keeps what it needs.
  override async onMessages(messages: readonly ChatMessage[]): Promise<Response> {
    for (const message of messages) this.#words += toText(message).split(/\s+/).length
    return response(TextMessage({ source: this.name, content: `${this.#words} words so far` }))
  }

  override async onReset(): Promise<void> {
    this.#words = 0
  }

  override async saveState(): Promise<JsonObject> {
    return { words: this.#words }
  }

  override async loadState({ words }: JsonObject): Promise<void> {
    this.#words = Number(words)
  }
}

const counter = new Counter("counter")
for (const task of ["Count this, please.", "And this."]) {
  console.log(answerText(await counter.run(task)))
}

/* Prints:
3 words so far
5 words so far
*/
