// What is wanted of the agents of agents.mjs, wherever they are.
import { agentId, topicId } from "glovebox/core"
import { AskTotal, Counted, NewBook, Page, Total } from "./agents.mjs"

const tally = agentId("tally", "novel")

export async function countBook(runtime) {
  for (const type of [NewBook, Page, Counted, AskTotal, Total]) runtime.addMessageType(type)
  await runtime.publish(NewBook({ title: "Words" }), topicId("book", "novel"))
  await runtime.whenIdle({ signal: AbortSignal.timeout(30_000) })

  const pages = Array.from({ length: 12 }, (_, page) => "word ".repeat(page + 1).trim())
  const answers = await Promise.all(
    pages.map(async (text, page) =>
      runtime.send(Page({ text }), agentId("counter", `page-${page}`), {
        expect: Counted,
        timeoutMs: 30_000,
      }),
    ),
  )
  const processes = new Set(answers.map(({ by }) => by))
  console.log(`${pages.length} pages, counted in ${processes.size} process(es)`)

  // The answers are here, while events may still be on their way to the tally.
  await runtime.whenIdle({ signal: AbortSignal.timeout(30_000) })
  const { words } = await runtime.send(AskTotal({}), tally, { expect: Total, timeoutMs: 30_000 })
  console.log(`the tally has ${words} words`)
}
