// Agents that count the words of a book. They know nothing of hosts and workers.
//   node examples/distributed/one-process.mjs                one process
//   npx glovebox worker examples/distributed/agents.mjs      a worker of a host
import { hostname } from "node:os"
import { RoutedAgent, defineMessage, topicId, typeSubscription } from "glovebox/core"
import { z } from "zod"

export const NewBook = defineMessage("NewBook", z.object({ title: z.string() }))
export const Page = defineMessage("Page", z.object({ text: z.string() }))
export const Counted = defineMessage("Counted", z.object({ words: z.number(), by: z.string() }))
export const AskTotal = defineMessage("AskTotal", z.object({}))
export const Total = defineMessage("Total", z.object({ words: z.number(), pages: z.number() }))

/** Counts the words of a page; each page has a counter of its own, on one of the workers. */
class Counter extends RoutedAgent {
  constructor() {
    super("Counts words.")
    this.on(Page, async ({ text }) => {
      const counted = Counted({ words: text.split(/\s+/).length, by: `${hostname()}:${process.pid}` })
      await this.publish(counted, topicId("book", "novel"))
      return counted
    })
  }
}

/** Hears of every page, whichever worker counted it. */
class Tally extends RoutedAgent {
  #words = 0
  #pages = 0

  constructor() {
    super("Adds up what was counted.")
    this.on(NewBook, () => {
      this.#words = 0
      this.#pages = 0
    })
    this.on(Counted, ({ words }) => {
      this.#words += words
      this.#pages += 1
    })
    this.on(AskTotal, () => Total({ words: this.#words, pages: this.#pages }))
  }
}

export async function register(runtime) {
  await runtime.register("counter", () => new Counter())
  await runtime.register("tally", () => new Tally(), { subscriptions: [typeSubscription("book")] })
}
