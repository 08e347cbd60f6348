import { once } from "node:events"
import { type IncomingMessage, type ServerResponse, createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { ScriptedAnswer, SeenRequest } from "../testing/model-client-subject.ts"

export type Answer = Extract<ScriptedAnswer, { type: "answer" }>

/** How a provider writes its answers. */
export interface Wire {
  readonly path: RegExp
  readonly streamType: string
  isStream(body: string): boolean
  whole(answer: Answer): unknown
  /** The parts of a stream, in order. */
  stream(answer: Answer): readonly string[]
  /** The beginning of a stream, with this piece of text. */
  beginning(piece: string | undefined): string
  garbage: string
  error(status: number, message: string): unknown
}

/** An answer byte for byte, for what only some servers send. */
export interface RawAnswer {
  readonly type: "raw"
  readonly contentType?: string
  readonly parts: readonly (string | Uint8Array)[]
}

/** A server that speaks a provider's format, and says what a test tells it to. */
export class ModelServer implements AsyncDisposable {
  readonly requests: SeenRequest[] = []
  readonly headers: IncomingMessage["headers"][] = []
  readonly urls: string[] = []
  readonly #wire: Wire
  readonly #script: (ScriptedAnswer | RawAnswer)[] = []
  readonly #server = createServer((request, response) => void this.#serve(request, response))
  readonly #waiting: ((request: SeenRequest) => void)[] = []
  #taken = 0

  constructor(wire: Wire) {
    this.#wire = wire
  }

  async start(): Promise<string> {
    this.#server.listen(0, "127.0.0.1")
    await once(this.#server, "listening")
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  script(...answers: readonly (ScriptedAnswer | RawAnswer)[]): void {
    this.#script.push(...answers)
  }

  /** The body of the last request. */
  lastBody(): Record<string, unknown> {
    return JSON.parse(this.requests.at(-1)?.body ?? "{}") as Record<string, unknown>
  }

  async nextRequest(): Promise<SeenRequest> {
    const request = this.requests[this.#taken]
    this.#taken += 1
    return request ?? new Promise((resolve) => this.#waiting.push(resolve))
  }

  async shut(): Promise<void> {
    if (!this.#server.listening) return
    const closed = once(this.#server, "close")
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.shut()
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const over = new Promise<"answered" | "closed">((resolve) => {
      response.on("close", () => resolve(response.writableFinished ? "answered" : "closed"))
    })
    let body = ""
    request.setEncoding("utf8")
    for await (const text of request) body += String(text)
    const seen = { body, over }
    this.requests.push(seen)
    this.headers.push(request.headers)
    this.urls.push(request.url ?? "")
    this.#waiting.shift()?.(seen)
    if (!this.#wire.path.test(request.url ?? "")) {
      response.writeHead(404).end("no such page")
      return
    }
    this.#answer(this.#script.shift(), this.#wire.isStream(body), response)
  }

  #answer(answer: ScriptedAnswer | RawAnswer | undefined, isStream: boolean, response: ServerResponse): void {
    if (!answer) {
      sendJson(response, 418, this.#wire.error(418, "the test has no more answers"))
      return
    }
    switch (answer.type) {
      case "answer":
        if (isStream) this.#stream(this.#wire.stream(answer), response)
        else sendJson(response, 200, this.#wire.whole(answer))
        return
      case "status":
        for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value)
        sendJson(response, answer.status, this.#wire.error(answer.status, answer.message ?? "it failed"))
        return
      case "foreign":
        response
          .writeHead(answer.status, { "content-type": "text/html" })
          .end("<html>Welcome to nginx!</html>")
        return
      case "broken":
        this.#break(answer, isStream, response)
        return
      case "silence":
        return
      case "raw":
        response.writeHead(200, {
          "content-type": answer.contentType ?? (isStream ? this.#wire.streamType : "application/json"),
        })
        for (const part of answer.parts) response.write(part)
        response.end()
        return
    }
  }

  #stream(parts: readonly string[], response: ServerResponse): void {
    response.writeHead(200, { "content-type": this.#wire.streamType })
    for (const part of parts) response.write(part)
    response.end()
  }

  #break(
    { piece, after }: Extract<ScriptedAnswer, { type: "broken" }>,
    isStream: boolean,
    response: ServerResponse,
  ): void {
    if (!isStream || piece === undefined) {
      response.destroy()
      return
    }
    response.writeHead(200, { "content-type": this.#wire.streamType })
    response.write(this.#wire.beginning(piece), () => {
      if (after === "lost") response.destroy()
      if (after === "end") response.end()
      if (after === "garbage") response.end(this.#wire.garbage)
    })
  }
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
}
