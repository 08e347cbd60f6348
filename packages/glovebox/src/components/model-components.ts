import type { ComponentDefinition } from "../core/index.ts"
import { anthropicChatCompletionClientComponent } from "../models/anthropic/index.ts"
import { ChatCompletionCache, DiskCacheStore, MemoryCacheStore } from "../models/cache/index.ts"
import { ollamaChatCompletionClientComponent } from "../models/ollama/index.ts"
import {
  azureOpenAIChatCompletionClientComponent,
  openAIChatCompletionClientComponent,
} from "../models/openai/index.ts"
import { ReplayChatCompletionClient } from "../models/replay/index.ts"

/** The model clients that can be made from data; each loads its provider's library when it is used. */
export const modelComponents: readonly ComponentDefinition<never>[] = [
  openAIChatCompletionClientComponent,
  azureOpenAIChatCompletionClientComponent,
  anthropicChatCompletionClientComponent,
  ollamaChatCompletionClientComponent,
  ReplayChatCompletionClient.definition,
  ChatCompletionCache.definition,
  MemoryCacheStore.definition,
  DiskCacheStore.definition,
]
