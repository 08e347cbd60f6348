import { z } from "zod"
import { type ComponentLoader, GloveboxError, componentModelSchema } from "../../../core/index.ts"
import { executorPart } from "../../../executors/index.ts"
import { contextPart } from "../../../memory/index.ts"
import { modelClientPart } from "../../../models/index.ts"
import type { CodeExecutorAgentOptions, ReadCodeExecutorOptions } from "./code-executor-agent-options.ts"

const component = componentModelSchema.nullish()

/** An agent's options as data, in AutoGen's names where it has them. */
export const codeExecutorAgentConfig = z.object({
  name: z.string(),
  description: z.string().nullish(),
  code_executor: component,
  model_client: component,
  model_context: component,
  model_client_stream: z.boolean().nullish(),
  system_message: z.string().nullish(),
  max_retries_on_error: z.int().nonnegative().nullish(),
  reflect: z.boolean().nullish(),
  supported_languages: z.array(z.string()).nullish(),
  sources: z.array(z.string()).nullish(),
  restart_on_reset: z.boolean().nullish(),
  dangerously_run_without_approval: z.boolean().nullish(),
})

type Config = z.output<typeof codeExecutorAgentConfig>

/** Writes options down. Whoever approves or governs cannot be written down, and the agent must not come back without them. */
export function configOf(options: ReadCodeExecutorOptions, description: string): Config {
  const { name, codeExecutor, modelClient, modelContext, systemMessage, approve, governance } = options
  if (governance) {
    throw new GloveboxError(
      "COMPONENT_INVALID",
      `governance of ${name} cannot be written down, and without it nothing would be asked for or recorded. Make the agent in code.`,
    )
  }
  if (approve) {
    throw new GloveboxError(
      "COMPONENT_INVALID",
      `approve of ${name} is a function, which cannot be written down, and without it the code would run unseen. Make the agent in code.`,
    )
  }
  return {
    name,
    description,
    code_executor: codeExecutor && executorPart.dump(codeExecutor, "codeExecutor"),
    model_client: modelClient && modelClientPart.dump(modelClient, "modelClient"),
    model_context: modelContext && contextPart.dump(modelContext, "modelContext"),
    model_client_stream: options.modelClientStream,
    // Absent is the default; no message at all is null.
    ...(systemMessage === undefined ? {} : { system_message: systemMessage }),
    max_retries_on_error: options.maxRetriesOnError,
    reflect: options.reflect,
    supported_languages: options.supportedLanguages,
    sources: options.sources,
    restart_on_reset: options.restartOnReset,
    dangerously_run_without_approval: options.dangerouslyRunWithoutApproval || undefined,
  }
}

/** The options that were written down, also by AutoGen. */
export function optionsFrom(config: Config, loader: ComponentLoader): CodeExecutorAgentOptions {
  const { code_executor: executor, model_client: client, model_context: context } = config
  return {
    name: config.name,
    description: config.description ?? undefined,
    codeExecutor: executor ? executorPart.load(executor, loader) : undefined,
    supportedLanguages: config.supported_languages ?? undefined,
    sources: config.sources ?? undefined,
    restartOnReset: config.restart_on_reset ?? undefined,
    dangerouslyRunWithoutApproval: config.dangerously_run_without_approval ?? undefined,
    // AutoGen writes the model's options also for an agent without one.
    ...(client && {
      modelClient: modelClientPart.load(client, loader),
      modelContext: context ? contextPart.load(context, loader) : undefined,
      modelClientStream: config.model_client_stream ?? undefined,
      systemMessage: config.system_message,
      maxRetriesOnError: config.max_retries_on_error ?? undefined,
      reflect: config.reflect ?? undefined,
    }),
  }
}
