import type {
  ModelClientFeatures,
  ModelClientSubject,
  StageClientOptions,
} from "../testing/model-client-subject.ts"
import { byBytes, inPieces } from "./in-pieces.test-kit.ts"
import type { ChatCompletionClient, ModelInfo } from "./index.ts"
import { ModelServer, type Wire } from "./model-server.test-kit.ts"

export const TEST_KEY = "sk-test-0123456789abcdefghij"

export const ABLE: ModelInfo = {
  vision: true,
  functionCalling: true,
  jsonOutput: true,
  structuredOutput: true,
  family: "unknown",
  multipleSystemMessages: true,
}

/** A subject whose clients talk to a server that speaks the given format. */
export function serverSubject(
  name: string,
  wire: Wire,
  features: Omit<ModelClientFeatures, "http">,
  create: (baseURL: string, options: StageClientOptions & { modelInfo: ModelInfo }) => ChatCompletionClient,
): ModelClientSubject {
  return {
    name,
    apiKey: TEST_KEY,
    features: { http: true, ...features },
    async open() {
      const server = new ModelServer(wire)
      const baseURL = await server.start()
      const clients: ChatCompletionClient[] = []
      let pieces: Disposable | undefined
      return {
        requests: server.requests,
        script: (...answers) => server.script(...answers),
        splitBytes() {
          pieces ??= inPieces(byBytes)
        },
        nextRequest: async () => server.nextRequest(),
        shut: async () => server.shut(),
        client(options = {}) {
          const client = create(baseURL, { ...options, modelInfo: { ...ABLE, ...options.modelInfo } })
          clients.push(client)
          return client
        },
        async [Symbol.asyncDispose]() {
          pieces?.[Symbol.dispose]()
          for (const client of clients) await client.close()
          await server.shut()
        },
      }
    },
  }
}
