import { describe, expect, it } from "vitest"
import { z } from "zod"
import { failureOf } from "../../../core/failure-of.test-kit.ts"
import { type ComponentModel, ComponentRegistry, defineComponent } from "../../../core/index.ts"
import { BufferedChatCompletionContext } from "../../../memory/index.ts"
import { ReplayChatCompletionClient } from "../../../models/replay/index.ts"
import { FakeExecutor, python } from "./fake-executor.test-kit.ts"
import { CodeExecutorAgent } from "./index.ts"

class StoredExecutor extends FakeExecutor {
  static readonly definition = defineComponent({
    provider: "test.Executor",
    type: "code_executor",
    config: z.object({ prints: z.string() }),
    create: ({ prints }) => new StoredExecutor(prints),
  })
  readonly #prints: string

  constructor(prints: string) {
    super(prints)
    this.#prints = prints
  }

  toComponent(): ComponentModel {
    return StoredExecutor.definition.dump({ prints: this.#prints })
  }
}

const registry = new ComponentRegistry([
  CodeExecutorAgent.definition,
  StoredExecutor.definition,
  ReplayChatCompletionClient.definition,
  BufferedChatCompletionContext.definition,
])

describe("CodeExecutorAgent as a component", () => {
  it("keeps everything that can be written down, and works when it is made again", async () => {
    const agent = new CodeExecutorAgent({
      name: "coder",
      description: "Codes.",
      codeExecutor: new StoredExecutor("42\n"),
      modelClient: new ReplayChatCompletionClient([python("x"), "It is 42."]),
      modelContext: new BufferedChatCompletionContext({ bufferSize: 9 }),
      modelClientStream: true,
      systemMessage: "Be brief.",
      maxRetriesOnError: 3,
      reflect: true,
      supportedLanguages: ["python"],
      sources: ["user"],
      restartOnReset: true,
    })
    const model = agent.toComponent()
    expect(model).toMatchObject({
      provider: "glovebox.agents.CodeExecutorAgent",
      component_type: "agent",
      config: {
        name: "coder",
        description: "Codes.",
        code_executor: { provider: "test.Executor" },
        model_client: { provider: "glovebox.models.ReplayChatCompletionClient" },
        model_context: { config: { buffer_size: 9 } },
        model_client_stream: true,
        system_message: "Be brief.",
        max_retries_on_error: 3,
        reflect: true,
        supported_languages: ["python"],
        sources: ["user"],
        restart_on_reset: true,
      },
    })
    const loaded = registry.load(JSON.parse(JSON.stringify(model)), CodeExecutorAgent)
    expect(loaded.toComponent()).toEqual(model)
    expect((await loaded.run("Go.")).messages.at(-1)).toMatchObject({ content: "It is 42." })
  })

  it("tells a missing system message from the default one", () => {
    const dump = (systemMessage?: null): unknown =>
      new CodeExecutorAgent({
        name: "coder",
        modelClient: new ReplayChatCompletionClient([]),
        systemMessage,
      }).toComponent().config
    expect(dump(null)).toHaveProperty("system_message", null)
    expect(dump()).not.toHaveProperty("system_message")
    const [none, standard] = [dump(null), dump()].map((config) =>
      registry
        .load({ provider: CodeExecutorAgent.definition.provider, config }, CodeExecutorAgent)
        .toComponent(),
    )
    expect([none?.config, standard?.config]).toEqual([dump(null), dump()])
  })

  it("loads what AutoGen writes, also of an agent without a model", async () => {
    const config = {
      name: "executor",
      code_executor: new StoredExecutor("1\n").toComponent(),
      model_client: null,
      description: "Runs.",
      sources: null,
      system_message: "Written for a model that is not there.",
      model_client_stream: false,
      model_context: null,
      supported_languages: ["python", "sh"],
    }
    const agent = registry.load(
      { provider: "autogen_agentchat.agents.CodeExecutorAgent", component_type: "agent", config },
      CodeExecutorAgent,
    )
    expect((await agent.run(python("x"))).messages.at(-1)).toMatchObject({ content: "1" })
  })

  it("is refused with an approver, which cannot be written down", () => {
    const agent = new CodeExecutorAgent({ name: "runner", approve: () => ({ approved: true }) })
    expect(failureOf(() => agent.toComponent())).toMatch(/COMPONENT_INVALID: approve of runner/)
  })

  it("is refused with an executor that cannot be written down, and loads none that is something else", () => {
    const agent = new CodeExecutorAgent({ name: "runner", codeExecutor: new FakeExecutor() })
    expect(failureOf(() => agent.toComponent())).toMatch(/COMPONENT_INVALID: codeExecutor/)
    const config = { name: "runner", code_executor: new ReplayChatCompletionClient([]).toComponent() }
    const model = { provider: CodeExecutorAgent.definition.provider, config }
    expect(failureOf(() => registry.load(model))).toMatch(/COMPONENT_INVALID.*is no code executor/)
  })

  it("needs no executor: it makes one of its own again", () => {
    const { config } = new CodeExecutorAgent({ name: "runner" }).toComponent()
    expect(config).not.toHaveProperty("code_executor")
    expect(config).not.toHaveProperty("dangerously_run_without_approval")
  })
})
