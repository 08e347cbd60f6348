import { z } from "zod"
import { type ComponentDefinition, GloveboxError, defineComponent } from "../../core/index.ts"
import {
  createResultConfigSchema,
  createResultFromConfig,
  createResultToConfig,
} from "../create-result-config.ts"
import { functionCallConfigSchema } from "../llm-message-config.ts"
import { modelInfoConfigSchema, modelInfoFromConfig } from "../model-info-config.ts"
import type {
  ReplayChatCompletionClient,
  ReplayChatCompletionClientOptions,
} from "./replay-chat-completion-client.ts"
import type { ReplayResponse } from "./replay-response.ts"

const responseSchema = z.union([z.string(), z.array(functionCallConfigSchema), createResultConfigSchema])

const configSchema = z.strictObject({
  chat_completions: z.array(responseSchema),
  model_info: modelInfoConfigSchema.nullish(),
  repeat: z.boolean().nullish(),
  keep_calls: z.boolean().nullish(),
})

type ReplayDefinition = ComponentDefinition<z.input<typeof configSchema>, ReplayChatCompletionClient>

/** How the client is made from a component's data, also from data that AutoGen wrote. */
export function defineReplay(
  make: (
    responses: readonly ReplayResponse[],
    options: ReplayChatCompletionClientOptions,
  ) => ReplayChatCompletionClient,
): ReplayDefinition {
  return defineComponent({
    provider: "glovebox.models.ReplayChatCompletionClient",
    aliases: ["autogen_ext.models.replay.ReplayChatCompletionClient"],
    // AutoGen's word for it, where other clients are a "model".
    type: "replay_chat_completion_client",
    config: configSchema,
    create: ({ chat_completions, model_info, repeat, keep_calls }) =>
      make(chat_completions.map(responseFromConfig), {
        modelInfo: model_info ? modelInfoFromConfig(model_info) : undefined,
        repeat: repeat ?? undefined,
        keepCalls: keep_calls ?? undefined,
      }),
  })
}

/** An answer as data; COMPONENT_INVALID for one that is none. */
export function responseToConfig(response: ReplayResponse, index: number): z.input<typeof responseSchema> {
  if (typeof response === "string") return response
  if (typeof response === "function" || response instanceof Error) {
    const what = typeof response === "function" ? "a function" : "an error"
    throw new GloveboxError(
      "COMPONENT_INVALID",
      `Answer ${index + 1} of the replay client is ${what}, which cannot be written down. Use answers that are data.`,
    )
  }
  return isCalls(response) ? [...response] : createResultToConfig(response)
}

function responseFromConfig(config: z.output<typeof responseSchema>): ReplayResponse {
  return typeof config === "string" || Array.isArray(config) ? config : createResultFromConfig(config)
}

function isCalls(response: ReplayResponse): response is Extract<ReplayResponse, readonly unknown[]> {
  return Array.isArray(response)
}
