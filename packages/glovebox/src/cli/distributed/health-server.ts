import { once } from "node:events"
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http"
import type { TcpAddress } from "./option-values.ts"
import { type Metric, prometheusText } from "./prometheus-text.ts"

export interface HealthServerOptions {
  /** Why nothing should be sent here now; undefined when all is well. */
  readonly notReady: () => string | undefined
  readonly metrics: () => readonly Metric[]
}

const PATIENCE_MS = 10_000
const MAX_CONNECTIONS = 100

/** `/healthz`, `/readyz` and `/metrics`, for whatever watches the process. */
export class HealthServer implements AsyncDisposable {
  readonly #server: Server
  readonly #options: HealthServerOptions

  private constructor(options: HealthServerOptions) {
    this.#options = options
    this.#server = createServer(
      { requestTimeout: PATIENCE_MS, headersTimeout: PATIENCE_MS },
      (request, response) => this.#answer(request, response),
    )
    this.#server.maxConnections = MAX_CONNECTIONS
  }

  static async start({ host, port }: TcpAddress, options: HealthServerOptions): Promise<HealthServer> {
    const health = new HealthServer(options)
    health.#server.listen(port, host)
    await once(health.#server, "listening")
    return health
  }

  /** `http://host:port`. */
  get url(): string {
    const address = this.#server.address()
    if (address === null || typeof address === "string") return ""
    const host = address.family === "IPv6" ? `[${address.address}]` : address.address
    return `http://${host}:${address.port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#server.listening) return
    this.#server.close()
    this.#server.closeAllConnections()
    await once(this.#server, "close")
  }

  #answer({ method, url }: IncomingMessage, response: ServerResponse): void {
    const say = (status: number, text: string, type = "text/plain; charset=utf-8"): void => {
      response.writeHead(status, { "content-type": type, "cache-control": "no-store" }).end(text)
    }
    if (method !== "GET" && method !== "HEAD") return say(405, "only GET\n")
    switch (url?.split("?")[0] ?? "/") {
      case "/healthz":
        return say(200, "ok\n")
      case "/readyz": {
        const reason = this.#options.notReady()
        return reason === undefined ? say(200, "ok\n") : say(503, `${reason}\n`)
      }
      case "/metrics":
        return say(200, prometheusText(this.#options.metrics()), "text/plain; version=0.0.4; charset=utf-8")
      default:
        return say(404, "there are /healthz, /readyz and /metrics\n")
    }
  }
}
