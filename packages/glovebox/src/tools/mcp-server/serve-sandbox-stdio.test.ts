import { once } from "node:events"
import { PassThrough } from "node:stream"
import { describe, expect, it } from "vitest"
import { serveSandboxStdio } from "./index.ts"

const about = {
  version: "1",
  about: "A sandbox.",
  languages: ["python"],
  hasShell: false,
  lasting: "",
} as const

function serve(input: PassThrough, output: PassThrough): Promise<void> {
  const openExecutor = (): Promise<never> => Promise.reject(new Error("no call needs it"))
  return serveSandboxStdio({ ...about, openExecutor, input, output })
}

function send(input: PassThrough, message: object): void {
  input.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
}

const initialize = {
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } },
}

describe("serveSandboxStdio", () => {
  it("goes on after what is no message", async () => {
    const [input, output] = [new PassThrough(), new PassThrough()]
    const served = serve(input, output)
    input.write('{"half": \n[]\nnull\n{"jsonrpc":"2.0","__proto__":{"id":1}}\n')
    send(input, initialize)
    const [answer] = (await once(output.setEncoding("utf8"), "data")) as [string]
    expect(JSON.parse(answer)).toMatchObject({ id: 1, result: { serverInfo: { name: "glovebox" } } })
    input.end()
    await served
  })

  it("ends at a message that is too large, instead of living on deaf", async () => {
    const [input, output] = [new PassThrough(), new PassThrough()]
    const served = serve(input, output)
    send(input, initialize)
    await once(output, "data")
    input.write(Buffer.alloc(17 * 1024 ** 2, "x"))
    await expect(served).resolves.toBeUndefined()
  })

  it("ends when nobody reads its answers any more", async () => {
    const [input, output] = [new PassThrough(), new PassThrough()]
    const served = serve(input, output)
    send(input, initialize)
    await once(output, "data")
    output.destroy(new Error("EPIPE"))
    await expect(served).resolves.toBeUndefined()
  })
})
