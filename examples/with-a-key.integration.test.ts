import { execFile } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { promisify } from "node:util"
import { expect, it } from "vitest"
import { root } from "./examples.test-kit.ts"

it("with a key the example's own model answers, and no scripted one", async () => {
  const asked: string[] = []
  const server = createServer((request, response) => {
    let body = ""
    request.on("data", (chunk: Buffer) => (body += chunk.toString()))
    request.on("end", () => {
      asked.push(`${request.headers.authorization} ${String(JSON.parse(body).model)}`)
      const message = { role: "assistant", content: "It rains." }
      response.setHeader("content-type", "application/json")
      response.end(JSON.stringify({ id: "1", choices: [{ index: 0, message, finish_reason: "stop" }] }))
    })
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  try {
    const env = { ...process.env, OPENAI_API_KEY: "sk-test", OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1` }
    const args = ["--import", "tsx", "--conditions=@glovebox/source", "examples/agents/tool-use.ts"]
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { cwd: root, env })
    expect(stdout).toContain("It rains.\nassistant answered.\n")
    expect(stderr).toBe("")
    expect(asked).toEqual(["Bearer sk-test gpt-5-mini"])
  } finally {
    server.close()
  }
})
