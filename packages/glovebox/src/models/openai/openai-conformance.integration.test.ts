import { afterAll, describe, it } from "vitest"
import { modelClientConformance } from "../../testing/model-client-conformance.ts"
import { TEST_KEY, serverSubject } from "../server-subject.test-kit.ts"
import { AzureOpenAIChatCompletionClient, OpenAIChatCompletionClient } from "./index.ts"
import { openAIWire } from "./openai-wire.test-kit.ts"

const features = { thoughts: true, jsonMode: true, contentFilter: true }

modelClientConformance(
  { describe, it, after: afterAll },
  serverSubject(
    "OpenAIChatCompletionClient",
    openAIWire,
    features,
    (baseURL, options) =>
      new OpenAIChatCompletionClient({
        model: "test-model",
        apiKey: TEST_KEY,
        baseURL: `${baseURL}/v1`,
        ...options,
      }),
  ),
)

modelClientConformance(
  { describe, it, after: afterAll },
  serverSubject(
    "AzureOpenAIChatCompletionClient",
    openAIWire,
    features,
    (azureEndpoint, options) =>
      new AzureOpenAIChatCompletionClient({
        model: "test-model",
        apiKey: TEST_KEY,
        azureEndpoint,
        apiVersion: "2024-10-21",
        ...options,
      }),
  ),
)
