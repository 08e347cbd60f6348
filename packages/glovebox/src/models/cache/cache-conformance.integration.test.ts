import { afterAll, describe, it } from "vitest"
import { modelClientConformance } from "../../testing/model-client-conformance.ts"
import { OpenAIChatCompletionClient } from "../openai/index.ts"
import { openAIWire } from "../openai/openai-wire.test-kit.ts"
import { TEST_KEY, serverSubject } from "../server-subject.test-kit.ts"
import { ChatCompletionCache } from "./index.ts"

modelClientConformance(
  { describe, it, after: afterAll },
  serverSubject(
    "ChatCompletionCache over OpenAIChatCompletionClient",
    openAIWire,
    { thoughts: true, jsonMode: true, contentFilter: true },
    (baseURL, options) =>
      new ChatCompletionCache(
        new OpenAIChatCompletionClient({
          model: "test-model",
          apiKey: TEST_KEY,
          baseURL: `${baseURL}/v1`,
          ...options,
        }),
      ),
  ),
)
