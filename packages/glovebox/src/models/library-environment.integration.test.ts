import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { expectFailure } from "../core/expect-failure.test-kit.ts"
import { anthropicWire } from "./anthropic/anthropic-wire.test-kit.ts"
import { AnthropicChatCompletionClient } from "./anthropic/index.ts"
import { ModelServer } from "./model-server.test-kit.ts"
import { AzureOpenAIChatCompletionClient, OpenAIChatCompletionClient } from "./openai/index.ts"
import { openAIWire } from "./openai/openai-wire.test-kit.ts"
import { ABLE } from "./server-subject.test-kit.ts"

const HI = [{ type: "UserMessage", content: "Hi", source: "user" }] as const
const SECRET = "env-secret-0123456789"
// What the libraries read by themselves.
const VARIABLES = [
  "OPENAI_ADMIN_KEY",
  "OPENAI_ORG_ID",
  "OPENAI_PROJECT_ID",
  "AZURE_OPENAI_API_KEY",
  "OPENAI_API_KEY",
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_AUTH_TOKEN",
]

let openai: ModelServer
let anthropic: ModelServer
let openaiURL: string
let anthropicURL: string

beforeEach(async () => {
  openai = new ModelServer(openAIWire)
  anthropic = new ModelServer(anthropicWire)
  openaiURL = await openai.start()
  anthropicURL = await anthropic.start()
  for (const name of VARIABLES) vi.stubEnv(name, SECRET)
  for (const name of ["OPENAI_CUSTOM_HEADERS", "ANTHROPIC_CUSTOM_HEADERS"]) {
    vi.stubEnv(name, `x-gateway: ${SECRET}\nauthorization: Bearer ${SECRET}`)
  }
})

afterEach(async () => {
  vi.unstubAllEnvs()
  await openai.shut()
  await anthropic.shut()
})

describe("a client whose address is given", () => {
  it.each([undefined, "given-key"])("sends nothing of the environment, with the key %s", async (apiKey) => {
    openai.script({ type: "answer", pieces: ["ok"] })
    anthropic.script({ type: "answer", pieces: ["ok"] })
    const options = { model: "m", modelInfo: ABLE, apiKey }
    await new OpenAIChatCompletionClient({ ...options, baseURL: openaiURL }).create(HI)
    await new AnthropicChatCompletionClient({ ...options, baseURL: anthropicURL }).create(HI)
    const sent = JSON.stringify([openai.headers, anthropic.headers])
    expect(sent).not.toContain(SECRET)
    expect(sent.split("given-key").length - 1).toBe(apiKey ? 2 : 0)
    expect(process.env["OPENAI_CUSTOM_HEADERS"]).toContain(SECRET)
  })
})

describe("AzureOpenAIChatCompletionClient", () => {
  const options = { model: "m", modelInfo: ABLE, apiVersion: "2024-10-21", maxRetries: 0 }

  it("goes to its own address, though there is one for OpenAI in the environment", async () => {
    vi.stubEnv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    openai.script({ type: "answer", pieces: ["ok"] })
    const client = new AzureOpenAIChatCompletionClient({ ...options, azureEndpoint: openaiURL, apiKey: "k" })
    expect((await client.create(HI)).content).toBe("ok")
    expect(openai.urls).toEqual(["/openai/deployments/m/chat/completions?api-version=2024-10-21"])
    expect(JSON.stringify(openai.headers)).not.toContain(SECRET)
  })

  it("shows no token that it was given, and says when it gets none", async () => {
    const token = "opaque.token.value-9876543210"
    const answers: (() => string)[] = [
      () => token,
      () => {
        throw new Error("sign in first")
      },
      () => "",
    ]
    const client = new AzureOpenAIChatCompletionClient({
      ...options,
      azureEndpoint: openaiURL,
      azureADTokenProvider: async () => answers.shift()?.() ?? "",
    })
    openai.script({ type: "status", status: 401, message: `no such token: ${token}` })
    const refused = await expectFailure(client.create(HI), "MODEL_KEY_REFUSED", /no such token: \[key\]/)
    expect(String(refused.cause)).not.toContain(token)
    expect(openai.headers[0]).toMatchObject({ authorization: `Bearer ${token}` })
    await expectFailure(client.create(HI), "MODEL_KEY_MISSING", /sign in first/)
    await expectFailure(client.create(HI), "MODEL_KEY_MISSING", /azureADTokenProvider gave/)
    expect(openai.requests.length).toBe(1)
  })
})
