import { afterAll, describe, it } from "vitest"
import { modelClientConformance } from "../../testing/model-client-conformance.ts"
import { TEST_KEY, serverSubject } from "../server-subject.test-kit.ts"
import { OllamaChatCompletionClient } from "./index.ts"
import { ollamaWire } from "./ollama-wire.test-kit.ts"

modelClientConformance(
  { describe, it, after: afterAll },
  serverSubject(
    "OllamaChatCompletionClient",
    ollamaWire,
    { thoughts: true, jsonMode: true, contentFilter: false },
    (baseURL, options) =>
      new OllamaChatCompletionClient({
        model: "test-model",
        baseURL,
        headers: { authorization: `Bearer ${TEST_KEY}` },
        ...options,
      }),
  ),
)
