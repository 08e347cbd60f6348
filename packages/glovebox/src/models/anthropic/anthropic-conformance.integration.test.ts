import { afterAll, describe, it } from "vitest"
import { modelClientConformance } from "../../testing/model-client-conformance.ts"
import { TEST_KEY, serverSubject } from "../server-subject.test-kit.ts"
import { anthropicWire } from "./anthropic-wire.test-kit.ts"
import { AnthropicChatCompletionClient } from "./index.ts"

modelClientConformance(
  { describe, it, after: afterAll },
  serverSubject(
    "AnthropicChatCompletionClient",
    anthropicWire,
    { thoughts: true, jsonMode: false, contentFilter: true },
    (baseURL, { modelInfo, ...options }) =>
      new AnthropicChatCompletionClient({
        model: "test-model",
        apiKey: TEST_KEY,
        baseURL,
        // The API has one place for instructions.
        modelInfo: { ...modelInfo, multipleSystemMessages: false },
        ...options,
      }),
  ),
)
