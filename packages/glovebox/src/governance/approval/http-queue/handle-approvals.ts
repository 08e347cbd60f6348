import type { IncomingMessage, RequestListener, ServerResponse } from "node:http"
import { errorMessage } from "../../../internal/error-message.ts"
import { type GateAnswer, readAnswer } from "../gate-answer.ts"
import type { BearerTokens } from "./bearer-tokens.ts"
import type { QueuedApproval } from "./queued-approval.ts"
import { readBody } from "./read-body.ts"

export interface HandleApprovalsOptions {
  readonly queued: ReadonlyMap<string, QueuedApproval>
  readonly holders: BearerTokens
  readonly maxBodyBytes: number
}

type Answer = readonly [status: number, body: unknown]

/** Answers HTTP requests for the queue. Nothing is logged, and nothing is said to whoever has no token. */
export function handleApprovals(options: HandleApprovalsOptions): RequestListener {
  return (request, response) => {
    // Whoever goes away is not told of what went wrong.
    request.on("error", () => {})
    response.on("error", () => {})
    answerOf(request, options)
      .catch((): Answer => refusal(500, "It failed."))
      .then((answer) => send(request, response, answer))
      .catch(() => response.destroy())
  }
}

async function answerOf(
  request: IncomingMessage,
  { queued, holders, maxBodyBytes }: HandleApprovalsOptions,
): Promise<Answer> {
  const { authorization, origin } = request.headers
  const holder = holders.holder(authorization)
  if (holder === undefined) return refusal(401, "A bearer token is needed.")
  // Pages of a browser have no business here, whatever token they have got hold of.
  if (origin !== undefined) return refusal(403, "Not from a page.")
  const path = /^\/approvals(?:\/([0-9a-f-]{36}))?$/.exec(request.url ?? "")
  if (!path) return refusal(404, "There is nothing here. Look at /approvals.")
  const [, id] = path
  if (id === undefined) {
    if (request.method !== "GET") return refusal(405, "Only GET.")
    const open = [...queued.values()].filter((one) => isOpen(one))
    return [200, { approvals: open.map((one) => one.request) }]
  }
  const entry = queued.get(id)
  if (!entry) return refusal(404, "No such request waits.")
  if (request.method === "GET")
    return [200, { approval: entry.request, answered: entry.answer !== undefined }]
  if (request.method !== "POST") return refusal(405, "Only GET and POST.")
  return decide(request, entry, { holder, maxBodyBytes, isQueued: () => queued.get(id) === entry })
}

interface Deciding {
  readonly holder: string
  readonly maxBodyBytes: number
  readonly isQueued: () => boolean
}

async function decide(
  request: IncomingMessage,
  entry: QueuedApproval,
  { holder, maxBodyBytes, isQueued }: Deciding,
): Promise<Answer> {
  const type = (request.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase()
  if (type !== "application/json") return refusal(415, "Send application/json.")
  let answer: GateAnswer
  try {
    const body = await readBody(request, maxBodyBytes)
    if (!body) return refusal(413, `The body is larger than ${maxBodyBytes} bytes.`)
    // Who answers is whose token it is, and not what they say.
    answer = readAnswer(entry.request, { ...Object(body.value), by: holder })
  } catch (error) {
    return refusal(400, errorMessage(error))
  }
  // Looked at after the body was read, and nothing is awaited from here on.
  if (!isQueued()) return refusal(404, "No such request waits.")
  if (entry.request.expires <= Date.now()) return refusal(410, "The request has expired.")
  if (!entry.settle(answer)) return refusal(409, "It was answered already.")
  return [200, { answered: true }]
}

function isOpen({ request, answer }: QueuedApproval): boolean {
  return answer === undefined && request.expires > Date.now()
}

function refusal(status: number, error: string): Answer {
  return [status, { error }]
}

function send(request: IncomingMessage, response: ServerResponse, [status, body]: Answer): void {
  const text = JSON.stringify(body)
  response.writeHead(status, {
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(text),
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    ...(status === 401 && { "www-authenticate": "Bearer" }),
    // What was not read of a body must not be taken for the next request.
    ...(!request.complete && { connection: "close" }),
  })
  response.end(text)
}
