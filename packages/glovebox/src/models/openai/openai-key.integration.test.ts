import { afterEach, beforeEach, expect, it, vi } from "vitest"
import { ModelServer } from "../model-server.test-kit.ts"
import { ABLE, TEST_KEY } from "../server-subject.test-kit.ts"
import { OpenAIChatCompletionClient } from "./index.ts"
import { openAIWire } from "./openai-wire.test-kit.ts"

let server: ModelServer
let baseURL: string

beforeEach(async () => {
  server = new ModelServer(openAIWire)
  baseURL = await server.start()
  server.script({ type: "answer", pieces: ["ok"] })
  vi.stubEnv("OPENAI_API_KEY", TEST_KEY)
})

afterEach(async () => {
  vi.unstubAllEnvs()
  await server.shut()
})

const HI = [{ type: "UserMessage", content: "Hi", source: "user" }] as const

it("OpenAIChatCompletionClient does not send the environment's key to an address that came from elsewhere", async () => {
  await new OpenAIChatCompletionClient({ model: "m", modelInfo: ABLE, baseURL }).create(HI)
  expect(server.headers[0]).not.toHaveProperty("authorization")
})

it("OpenAIChatCompletionClient sends it to the environment's own address", async () => {
  vi.stubEnv("OPENAI_BASE_URL", `${baseURL}/`)
  await new OpenAIChatCompletionClient({ model: "m", modelInfo: ABLE }).create(HI)
  expect(server.headers[0]).toMatchObject({ authorization: `Bearer ${TEST_KEY}` })
})
