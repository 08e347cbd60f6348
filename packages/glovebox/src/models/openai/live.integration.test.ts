import { afterAll, describe, it } from "vitest"
import { liveModelConformance } from "../../testing/live-model-conformance.ts"
import { obligingServer } from "./obliging-server.test-kit.ts"
import { OpenAIChatCompletionClient } from "./index.ts"

const {
  GLOVEBOX_TEST_OPENAI_BASE_URL: given,
  GLOVEBOX_TEST_OPENAI_MODEL: model = "default",
  GLOVEBOX_TEST_OPENAI_API_KEY: apiKey,
  GLOVEBOX_TEST_OPENAI_LACKS: lacks = "",
} = process.env

// Without a real server, a small one that behaves shows that the tests themselves hold.
const server = given ? undefined : await obligingServer()
const baseURL = given ?? server?.baseURL

afterAll(async () => {
  await server?.close()
})

liveModelConformance(
  { describe, it, after: afterAll },
  {
    name: given ? `${model} at ${given}` : "a stand-in; set GLOVEBOX_TEST_OPENAI_BASE_URL for a real one",
    bound: (tokens) => ({ max_tokens: tokens }),
    create: () =>
      new OpenAIChatCompletionClient({
        model,
        baseURL,
        apiKey,
        temperature: 0,
        modelInfo: {
          vision: false,
          functionCalling: !lacks.includes("functionCalling"),
          jsonOutput: !lacks.includes("jsonOutput"),
          structuredOutput: !lacks.includes("structuredOutput"),
          family: "unknown",
        },
      }),
  },
)
