import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { agentId, defineMessage, topicId } from "glovebox/core"
import { GrpcWorkerAgentRuntime, GrpcWorkerAgentRuntimeHost } from "glovebox/runtimes/grpc"
import { expect, it, onTestFinished } from "vitest"
import { z } from "zod"
import { PYTHON } from "./autogen-program.ts"

const EXAMPLE = fileURLToPath(new URL("../examples/distributed/autogen_worker.py", import.meta.url))
const Page = defineMessage("Page", z.object({ text: z.string() }))
const Counted = defineMessage("Counted", z.object({ words: z.number(), by: z.string() }))

it("examples/distributed/autogen_worker.py answers, and hears what is published", async () => {
  await using host = new GrpcWorkerAgentRuntimeHost({ address: "127.0.0.1:0" })
  await host.start()
  const python = spawn(PYTHON, [EXAMPLE, host.address], { stdio: ["ignore", "pipe", "inherit"] })
  onTestFinished(() => void python.kill("SIGKILL"))
  const lines = createInterface(python.stdout)[Symbol.asyncIterator]()
  expect((await lines.next()).value).toBe("connected")
  await using runtime = new GrpcWorkerAgentRuntime({ hostAddress: host.address })
  runtime.addMessageType(Page)
  await runtime.start()
  const page = Page({ text: "the quick brown fox" })
  const counted = await runtime.send(page, agentId("python_counter", "novel"), { expect: Counted })
  expect(counted).toMatchObject({ words: 4, by: "Python" })
  await runtime.publish(Counted({ words: 7, by: "TypeScript" }), topicId("book", "novel"))
  expect((await lines.next()).value).toBe("heard of 7 words")
})
