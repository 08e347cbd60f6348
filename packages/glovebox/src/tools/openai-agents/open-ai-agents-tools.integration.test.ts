import { Agent, type Model, type ModelRequest, type ModelResponse, Runner, Usage } from "@openai/agents"
import { describe, expect, it } from "vitest"
import { sampleTools } from "../adapters.test-kit.ts"
import { openAIAgentsTools } from "./index.ts"

/** A model that calls a tool once, and then says that it is done. */
class CallingModel implements Model {
  readonly requests: ModelRequest[] = []
  readonly #call: { readonly name: string; readonly arguments: string }

  constructor(name: string, args: object) {
    this.#call = { name, arguments: JSON.stringify(args) }
  }

  async getResponse(request: ModelRequest): Promise<ModelResponse> {
    // The list goes on growing after the call.
    const isAnswered =
      Array.isArray(request.input) && request.input.some((item) => item.type === "function_call_result")
    this.requests.push(structuredClone({ ...request, signal: undefined, tracing: false }))
    const output: ModelResponse["output"] = isAnswered
      ? [
          {
            type: "message",
            role: "assistant",
            status: "completed",
            content: [{ type: "output_text", text: "done" }],
          },
        ]
      : [{ type: "function_call", callId: "call-1", status: "completed", ...this.#call }]
    return { usage: new Usage(), output }
  }

  // eslint-disable-next-line require-yield -- the runs here do not stream
  async *getStreamedResponse(): AsyncGenerator<never> {
    throw new Error("not streamed")
  }

  get answer(): unknown {
    const input = this.requests.at(-1)?.input
    const result = Array.isArray(input)
      ? input.find((item) => item.type === "function_call_result")
      : undefined
    return result?.type === "function_call_result" ? result.output : undefined
  }
}

async function start(
  name: string,
  args: object,
  ran: string[] = [],
): Promise<{ model: CallingModel; agent: Agent; runner: Runner }> {
  const model = new CallingModel(name, args)
  const agent = new Agent({ name: "agent", model, tools: await openAIAgentsTools(sampleTools(ran)) })
  return { model, agent, runner: new Runner({ tracingDisabled: true }) }
}

describe("openAIAgentsTools", () => {
  it("lets the library's agent call a tool, with its schema", async () => {
    const ran: string[] = []
    const { model, agent, runner } = await start("repeat", { text: "ab", times: 2 }, ran)
    const { finalOutput } = await runner.run(agent, "Do it.")
    expect(finalOutput).toBe("done")
    expect(model.answer).toMatchObject({ type: "text", text: "abab" })
    expect(ran).toEqual(["repeat call-1"])
    expect(model.requests[0]?.tools).toContainEqual(
      expect.objectContaining({
        name: "repeat",
        strict: false,
        parameters: expect.objectContaining({ required: ["text"] }) as object,
      }),
    )
  })

  it("gives images as images, and errors as text that the model sees", async () => {
    const drawn = await start("draw", {})
    await drawn.runner.run(drawn.agent, "Do it.")
    expect(JSON.stringify(drawn.model.answer)).toContain("data:image/png;base64,")
    const failed = await start("fail", {})
    await failed.runner.run(failed.agent, "Do it.")
    expect(failed.model.answer).toMatchObject({ text: "out of ink" })
    const invalid = await start("repeat", { text: 5 })
    await invalid.runner.run(invalid.agent, "Do it.")
    expect(JSON.stringify(invalid.model.answer)).toContain("Correct them")
  })

  it("ends the run with an error that is fatal", async () => {
    const { agent, runner } = await start("crash", {})
    await expect(runner.run(agent, "Do it.")).rejects.toThrow(/on fire/)
  })

  it("leaves the approval to the library, which does not run the tool without", async () => {
    const ran: string[] = []
    const { agent, runner } = await start("remove", { path: "etc/x" }, ran)
    const paused = await runner.run(agent, "Do it.")
    expect(paused.interruptions).toHaveLength(1)
    expect(ran).toEqual([])
    const [request] = paused.interruptions
    if (request) paused.state.approve(request)
    const { finalOutput } = await runner.run(agent, paused.state)
    expect(finalOutput).toBe("done")
    expect(ran).toEqual(["remove etc/x"])
  })
})
