import type { Agent, ClientRequest, IncomingMessage } from "node:http"

/** Node's http gives each request to its agent by this method, which its types do not know. */
interface Requested {
  addRequest(this: Agent, request: ClientRequest, ...rest: unknown[]): void
}

/**
 * Makes an answer that breaks off in the middle an error of its request: the client library waits for the answer's end
 * alone, which then never comes.
 */
export function withBrokenAnswers<T extends Agent>(agent: T): T {
  if (!isRequested(agent)) throw new TypeError("Node's http agents have no addRequest any more.")
  const addRequest = agent.addRequest.bind(agent)
  agent.addRequest = (request, ...rest) => {
    request.once("response", (answer: IncomingMessage) => {
      answer.once("error", (error) => request.emit("error", error))
    })
    addRequest(request, ...rest)
  }
  return agent
}

function isRequested<T extends Agent>(agent: T): agent is T & Requested {
  return "addRequest" in agent && typeof agent.addRequest === "function"
}
