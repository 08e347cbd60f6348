import { z } from "zod"
import {
  type ComponentDefinition,
  type ComponentModel,
  componentModelSchema,
  defineComponent,
} from "../../core/index.ts"
import { readOptions } from "../../core/read-options.ts"
import { teamPart } from "../teams/team-part.ts"
import type { Team } from "../teams/team.ts"
import {
  TaskRunnerTool,
  type TaskRunnerToolOptions,
  isFunction,
  taskRunnerConfigShape,
  taskRunnerToolShape,
} from "./task-runner-tool.ts"

export interface TeamToolOptions extends TaskRunnerToolOptions {
  /** Does the tasks, one after another; or a function that makes one for each call, so that calls run side by side. */
  readonly team: Team | (() => Team | Promise<Team>)
  readonly name: string
  /** What the model chooses by. */
  readonly description: string
}

const schema = z.strictObject({
  ...taskRunnerToolShape,
  team: z.custom<TeamToolOptions["team"]>(
    (value) =>
      typeof value === "function" ||
      (typeof value === "object" && value !== null && "runStream" in value && "reset" in value),
    "must be a team, or a function that makes one",
  ),
  name: z.string(),
  description: z.string().min(1),
})

const configSchema = z.object({
  ...taskRunnerConfigShape,
  team: componentModelSchema,
  name: z.string(),
  description: z.string(),
})

/**
 * Lets a model give tasks to a team.
 *
 * @example
 * const review = new TeamTool({ team: reviewers, name: "review", description: "Has a text reviewed" })
 * const editor = new AssistantAgent({ name: "editor", modelClient, tools: [review] })
 */
export class TeamTool extends TaskRunnerTool {
  static readonly definition: ComponentDefinition<z.input<typeof configSchema>, TeamTool> = defineComponent({
    provider: "glovebox.tools.TeamTool",
    aliases: ["autogen_agentchat.tools.TeamTool"],
    type: "tool",
    config: configSchema,
    create: (config, loader) =>
      new TeamTool({
        team: teamPart.load(config.team, loader),
        name: config.name,
        description: config.description,
        returnValueAsLastMessage: config.return_value_as_last_message,
        state: config.state,
      }),
  })

  readonly #options: z.output<typeof schema>

  constructor(options: TeamToolOptions) {
    const read = readOptions("TeamTool", schema, options)
    const { team, ...settings } = read
    super({ ...settings, runner: team })
    this.#options = read
  }

  toComponent(): ComponentModel {
    const { team, name, description, returnValueAsLastMessage, state } = this.#options
    if (typeof team === "function") throw isFunction("team")
    return TeamTool.definition.dump({
      team: teamPart.dump(team, "team"),
      name,
      description,
      return_value_as_last_message: returnValueAsLastMessage,
      state,
    })
  }
}
