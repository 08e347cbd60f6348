import type { ModelClientSubject, ScriptedAnswer } from "../../testing/model-client-subject.ts"
import type { ChatCompletionClient } from "../index.ts"
import { ABLE, TEST_KEY } from "../server-subject.test-kit.ts"
import { ReplayChatCompletionClient } from "./index.ts"

/** A subject without a server: what a test scripts is what the client replays. */
export function replaySubject(
  name: string,
  wrap: (client: ChatCompletionClient) => ChatCompletionClient = (client) => client,
): ModelClientSubject {
  return {
    name,
    apiKey: TEST_KEY,
    features: { http: false, thoughts: true, jsonMode: true, contentFilter: true },
    async open() {
      const script: ScriptedAnswer[] = []
      const next = () => {
        const answer = script.shift()
        if (answer?.type !== "answer") throw new Error("the test has no more answers")
        const { pieces = [], thought, calls, finish, usage } = answer
        const text = pieces.join("")
        const said = thought ?? (calls && text !== "" ? text : undefined)
        return {
          content: calls ?? text,
          ...(finish === undefined ? {} : { finishReason: finish }),
          ...(usage === undefined ? {} : { usage }),
          ...(said === undefined ? {} : { thought: said }),
        }
      }
      return {
        requests: [],
        script: (...answers) => void script.push(...answers),
        splitBytes() {},
        nextRequest: async () => Promise.reject(new Error("there is no server")),
        async shut() {},
        client: ({ modelInfo } = {}) =>
          wrap(
            new ReplayChatCompletionClient(Array<typeof next>(20).fill(next), {
              modelInfo: { ...ABLE, ...modelInfo },
            }),
          ),
        async [Symbol.asyncDispose]() {},
      }
    },
  }
}
