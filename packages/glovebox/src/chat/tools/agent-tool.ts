import { z } from "zod"
import {
  type ComponentDefinition,
  type ComponentModel,
  GloveboxError,
  componentModelSchema,
  defineComponent,
} from "../../core/index.ts"
import { readOptions } from "../../core/read-options.ts"
import { agentPart } from "../agents/agent-part.ts"
import type { ChatAgent } from "../agents/chat-agent.ts"
import {
  TaskRunnerTool,
  type TaskRunnerToolOptions,
  isFunction,
  taskRunnerConfigShape,
  taskRunnerToolShape,
} from "./task-runner-tool.ts"

export interface AgentToolOptions extends TaskRunnerToolOptions {
  /** Does the tasks, one after another; or a function that makes one for each call, so that calls run side by side. */
  readonly agent: ChatAgent | (() => ChatAgent | Promise<ChatAgent>)
  /** Needed with a function. @default the agent's */
  readonly name?: string | undefined
  /** What the model chooses by; needed with a function. @default the agent's */
  readonly description?: string | undefined
}

const schema = z.strictObject({
  ...taskRunnerToolShape,
  agent: z.custom<AgentToolOptions["agent"]>(
    (value) =>
      typeof value === "function" ||
      (typeof value === "object" && value !== null && "onMessagesStream" in value),
    "must be an agent, or a function that makes one",
  ),
  name: z.string().optional(),
  description: z.string().min(1).optional(),
})

const configSchema = z.object({
  ...taskRunnerConfigShape,
  agent: componentModelSchema,
  name: z.string().nullish(),
  description: z.string().nullish(),
})

/**
 * Lets a model give tasks to an agent.
 *
 * @example
 * const editor = new AssistantAgent({ name: "editor", modelClient, tools: [new AgentTool({ agent: researcher })] })
 */
export class AgentTool extends TaskRunnerTool {
  static readonly definition: ComponentDefinition<z.input<typeof configSchema>, AgentTool> = defineComponent({
    provider: "glovebox.tools.AgentTool",
    aliases: ["autogen_agentchat.tools.AgentTool"],
    type: "tool",
    config: configSchema,
    create: (config, loader) =>
      new AgentTool({
        agent: agentPart.load(config.agent, loader),
        name: config.name ?? undefined,
        description: config.description ?? undefined,
        returnValueAsLastMessage: config.return_value_as_last_message,
        state: config.state,
      }),
  })

  readonly #options: z.output<typeof schema>

  constructor(options: AgentToolOptions) {
    const read = readOptions("AgentTool", schema, options)
    const { agent, returnValueAsLastMessage, state } = read
    const known = typeof agent === "function" ? undefined : agent
    const { name = known?.name, description = known?.description } = read
    if (name === undefined || description === undefined) {
      throw new GloveboxError(
        "OPTION_INVALID",
        "The agent of AgentTool is a function, so nothing is known of it yet. Pass name and description too.",
      )
    }
    super({ name, description, runner: agent, returnValueAsLastMessage, state })
    this.#options = read
  }

  toComponent(): ComponentModel {
    const { agent, name, description, returnValueAsLastMessage, state } = this.#options
    if (typeof agent === "function") throw isFunction("agent")
    return AgentTool.definition.dump({
      agent: agentPart.dump(agent, "agent"),
      name: name ?? null,
      description: description ?? null,
      return_value_as_last_message: returnValueAsLastMessage,
      state,
    })
  }
}
