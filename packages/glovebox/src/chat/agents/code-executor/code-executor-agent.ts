import type { z } from "zod"
import {
  type Component,
  type ComponentDefinition,
  type ComponentModel,
  GloveboxError,
  type JsonObject,
  defineComponent,
} from "../../../core/index.ts"
import type { CodeExecutor } from "../../../executors/index.ts"
import type { Governor } from "../../../governance/index.ts"
import { UnboundedChatCompletionContext } from "../../../memory/index.ts"
import type { ChatMessage } from "../../messages/index.ts"
import { BaseChatAgent } from "../base-chat-agent.ts"
import type { TurnOptions, TurnStream } from "../chat-agent.ts"
import {
  type CodeExecutorAgentOptions,
  type ReadCodeExecutorOptions,
  readCodeExecutorOptions,
} from "./code-executor-agent-options.ts"
import type { CodeGate } from "./approve-code.ts"
import { codeExecutorAgentConfig, configOf, optionsFrom } from "./code-executor-agent-config.ts"
import { asksItself, codeGateOf } from "./code-gate.ts"
import { CodeTurn } from "./code-turn.ts"
import { Conversation } from "./conversation.ts"
import { HeldExecutor } from "./held-executor.ts"
import { type ModelSetup, modelTurn } from "./model-turn.ts"
import { SupportedLanguages } from "./supported-languages.ts"
import { defaultSystemMessage, functionsOf } from "./system-message.ts"
import { terminalTurn } from "./terminal-turn.ts"
import { WaitingCode } from "./waiting-code.ts"

/**
 * Runs code: without a model, the code in what others say; with one, the code that its model writes, and corrects when
 * it fails. What is only quoted, commented out, printed by a program or given back by a tool is not run. The code runs
 * in a sandbox. An executor on this machine itself needs somebody who approves, or an explicit
 * `dangerouslyRunWithoutApproval`. A turn whose code waits for an approval throws APPROVAL_PENDING; the next one goes on
 * with that code, also from a saved state, and asks no model for it again.
 *
 * @example
 * await using coder = new CodeExecutorAgent({ name: "coder", modelClient, maxRetriesOnError: 2 })
 * const { messages } = await coder.run("Which day of the week was 1 January 2000?")
 */
export class CodeExecutorAgent extends BaseChatAgent implements Component {
  static readonly definition: ComponentDefinition<
    z.input<typeof codeExecutorAgentConfig>,
    CodeExecutorAgent
  > = defineComponent({
    provider: "glovebox.agents.CodeExecutorAgent",
    aliases: ["autogen_agentchat.agents.CodeExecutorAgent"],
    type: "agent",
    config: codeExecutorAgentConfig,
    create: (config, loader) => new CodeExecutorAgent(optionsFrom(config, loader)),
  })

  readonly #options: ReadCodeExecutorOptions
  readonly #languages: SupportedLanguages
  readonly #executor: HeldExecutor
  readonly #gate: CodeGate | undefined
  readonly #model: Omit<ModelSetup, "executor"> | undefined
  readonly #waiting = new WaitingCode()
  readonly #governor: Governor | undefined

  constructor(options: CodeExecutorAgentOptions) {
    const read = readCodeExecutorOptions(options)
    super(read.name, read.description ?? descriptionOf(read))
    this.#options = read
    this.#languages = new SupportedLanguages(read.supportedLanguages)
    const { governance } = read
    const governor = governance?.agent(read.name)
    this.#governor = governor
    this.#gate = codeGateOf(read, governor)
    this.#executor = new HeldExecutor(
      read.codeExecutor,
      // Leave is asked for here, where an edit can be told to the model.
      governor && ((executor) => governor.executor(executor, { approval: false })),
      governance && ((executor) => governance.watchSandboxes(executor)),
    )
    this.#model = modelSetup(read, this.#languages, governor)
  }

  override async *onMessagesStream(messages: readonly ChatMessage[], { signal }: TurnOptions): TurnStream {
    signal.throwIfAborted()
    const { sources } = this.#options
    const turn = new CodeTurn(this.name, this.#gate, signal)
    const read = sources ? messages.filter(({ source }) => sources.includes(source)) : messages
    const executor = async (): Promise<CodeExecutor> => this.#executor.get(signal)
    const plain = this.#model
      ? modelTurn(turn, { ...this.#model, executor }, read)
      : terminalTurn(turn, { executor, languages: this.#languages, waiting: this.#waiting }, read)
    return yield* this.#governor?.turn(plain) ?? plain
  }

  /** Forgets the conversation, code that waits for an approval and, by `restartOnReset`, the files of the sandbox. */
  override async onReset({ signal }: TurnOptions): Promise<void> {
    await this.#model?.conversation.clear()
    this.#waiting.code = undefined
    if (this.#options.restartOnReset ?? this.#executor.isOwn) await this.#executor.restart(signal)
  }

  override async saveState(): Promise<JsonObject> {
    return this.#model?.conversation.saveState() ?? this.#waiting.saveState()
  }

  override async loadState(state: JsonObject): Promise<void> {
    // What waited for a word must not run because here nobody is asked.
    if (state["suspended"] !== undefined && !this.#gate && !asksItself(this.#options.codeExecutor)) {
      throw new GloveboxError(
        "STATE_INVALID",
        `The state of ${this.name} has code that waits for an approval, and here nobody is asked. Pass governance or approve.`,
      )
    }
    await (this.#model?.conversation.loadState(state) ?? this.#waiting.loadState(state))
  }

  /** Ends the executor of its own; one that it was given is left to whoever made it. */
  override async close(): Promise<void> {
    await this.#executor.close()
  }

  toComponent(): ComponentModel {
    return CodeExecutorAgent.definition.dump(configOf(this.#options, this.description))
  }
}

function modelSetup(
  read: ReadCodeExecutorOptions,
  languages: SupportedLanguages,
  governor: Governor | undefined,
): Omit<ModelSetup, "executor"> | undefined {
  const { modelClient, modelContext = new UnboundedChatCompletionContext() } = read
  if (!modelClient) return undefined
  const { systemMessage = defaultSystemMessage(languages.names), codeExecutor } = read
  return {
    name: read.name,
    languages,
    client: governor?.client(modelClient) ?? modelClient,
    streams: read.modelClientStream ?? false,
    conversation: new Conversation(modelContext, { hasVision: modelClient.modelInfo.vision }),
    systemMessage:
      systemMessage === null
        ? undefined
        : [systemMessage, functionsOf(codeExecutor)].filter((part) => part !== "").join("\n\n"),
    maxRetries: read.maxRetriesOnError ?? 0,
    reflects: read.reflect ?? true,
  }
}

function descriptionOf({ modelClient, supportedLanguages }: ReadCodeExecutorOptions): string {
  const languages = supportedLanguages.join(" and ")
  return modelClient
    ? `Solves tasks by writing ${languages} code and running it in a sandbox.`
    : `Runs ${languages} code that others write in fenced blocks, and says what it printed. It writes none itself.`
}
