import type { Agent, ClientRequest, IncomingMessage } from "node:http"

/**
 * Makes an answer that breaks off in the middle an error of its request: the client library waits for the answer's end
 * alone, which then never comes.
 */
export function withBrokenAnswers<T extends Agent>(agent: T): T {
  // Node's http gives each request to its agent by this method, which its types do not know.
  const inner = agent as unknown as { addRequest(request: ClientRequest, ...rest: unknown[]): void }
  const addRequest = inner.addRequest.bind(agent)
  inner.addRequest = (request, ...rest) => {
    request.once("response", (answer: IncomingMessage) => {
      answer.once("error", (error) => request.emit("error", error))
    })
    addRequest(request, ...rest)
  }
  return agent
}
