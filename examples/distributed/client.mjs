// Sends pages to the agents of agents.mjs, wherever they are.
//   node examples/distributed/client.mjs
import { readFile } from "node:fs/promises"
import { agentId } from "glovebox/core"
import { GrpcWorkerAgentRuntime } from "glovebox/runtimes/grpc"
import { AskTotal, Counted, Page, Total } from "./agents.mjs"

const { HOST_ADDRESS = "127.0.0.1:50051", TOKEN_FILE, CA_FILE } = process.env

const runtime = new GrpcWorkerAgentRuntime({
  hostAddress: HOST_ADDRESS,
  ...(CA_FILE && { tls: { ca: CA_FILE } }),
  ...(TOKEN_FILE && { token: (await readFile(TOKEN_FILE, "utf8")).trim() }),
})
for (const type of [Page, Counted, AskTotal, Total]) runtime.addMessageType(type)

try {
  await runtime.start()
  const pages = Array.from({ length: 12 }, (_, page) => "word ".repeat(page + 1).trim())
  const book = pages.map(async (text, page) =>
    runtime.send(Page({ text }), agentId("counter", `page-${page}`), { expect: Counted, timeoutMs: 30_000 }),
  )
  const workers = new Set((await Promise.all(book)).map(({ by }) => by))
  console.log(`${pages.length} pages were counted by ${workers.size} workers`)

  // The answers are here, while events may still be on their way to the tally.
  await runtime.whenIdle({ signal: AbortSignal.timeout(30_000) })
  const total = await runtime.send(AskTotal({}), agentId("tally", "book"), {
    expect: Total,
    timeoutMs: 30_000,
  })
  console.log(`the tally has ${total.words} words of ${total.pages} pages`)
} finally {
  await runtime.close()
}
