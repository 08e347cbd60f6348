import type { ErrorCode } from "../../../core/glovebox-error.ts"
import { type ControlContent, packAny, unpackAny } from "../wire/codec.ts"
import type { ControlMessage, WireAgentId, WireAny } from "../wire/wire-message.ts"
import { Deadlines } from "./deadlines.ts"
import type { Placement } from "./placement.ts"
import type { SessionDirectory } from "./session-directory.ts"
import type { ControlStream, ControlWait, WorkerSession } from "./worker-session.ts"

export interface ControlRouterOptions {
  readonly placement: Placement
  readonly sessions: SessionDirectory
  /** How long a message waits for a worker that has no control channel just now. */
  readonly graceMs: number
  readonly requestTimeoutMs: number
}

type Target = WorkerSession | readonly [ErrorCode, string]

const MAX_WAITS = 10_000
const MAX_BUFFERED = 1000

/** Takes messages of the control channel to workers, by agent or client; each question gets an answer. */
export class ControlRouter {
  readonly #options: ControlRouterOptions
  readonly #deadlines = new Deadlines<ControlWait>((wait) => {
    const text = wait.isSent ? "did not answer in time" : "has no control channel"
    this.#fail(wait, wait.isSent ? "SEND_TIMEOUT" : "WORKER_LOST", `The worker ${text}.`)
  })

  constructor(options: ControlRouterOptions) {
    this.#options = options
  }

  opened(session: WorkerSession, stream: ControlStream): void {
    const before = session.control
    session.control = stream
    before?.end()
    for (const wait of session.controlWaits.values()) if (!wait.isSent) this.#send(wait, stream)
  }

  /** What was sent over a channel that ended will not be answered. */
  closed(session: WorkerSession, stream: ControlStream): void {
    if (session.control !== stream) return
    session.control = undefined
    for (const wait of session.controlWaits.values()) {
      if (wait.isSent)
        this.#fail(wait, "CONNECTION_LOST", "The worker's control channel was lost before it answered.")
    }
  }

  left(session: WorkerSession): void {
    for (const wait of session.controlWaits.values()) {
      this.#fail(wait, "WORKER_LOST", "The worker was lost or left before it answered.")
    }
  }

  take(from: WorkerSession, message: ControlMessage): void {
    const content = contentOf(message.rpcMessage)
    // A question is known by what it is: one without a return address would be carried out as well.
    if (content?.name.endsWith("Response") || content?.name === "ControlAnswer") {
      this.#answer(from, message)
      return
    }
    const target = this.#target(from, message, content)
    if (isFailure(target)) {
      answer(from, message, ...target)
      return
    }
    if (target.controlWaits.size >= MAX_WAITS || target.controlWaits.has(message.rpc_id)) {
      answer(from, message, "QUEUE_FULL", "Too many control messages wait for the worker. Try again later.")
      return
    }
    const { graceMs, requestTimeoutMs } = this.#options
    const time = target.control ? requestTimeoutMs : graceMs
    const wait = { from, to: target, message, deadline: performance.now() + time, isSent: false }
    target.controlWaits.set(message.rpc_id, wait)
    this.#deadlines.add(wait)
    if (target.control) this.#send(wait, target.control)
  }

  stop(): void {
    for (const session of this.#options.sessions) {
      for (const wait of session.controlWaits.values())
        this.#fail(wait, "HOST_UNAVAILABLE", "The host stopped.")
    }
    this.#deadlines.clear()
  }

  #send(wait: ControlWait, stream: ControlStream): void {
    if (stream.writableLength >= MAX_BUFFERED) {
      this.#fail(wait, "QUEUE_FULL", "The worker does not read its control messages. Try again later.")
      return
    }
    wait.isSent = true
    stream.write(wait.message)
  }

  // To whoever asked, wherever the answer says that it wants to go.
  #answer(from: WorkerSession, message: ControlMessage): void {
    const wait = from.controlWaits.get(message.rpc_id)
    if (!wait) return
    this.#forget(wait)
    write(wait.from, { ...message, destination: wait.message.respond_to ?? message.destination })
  }

  #fail(wait: ControlWait, code: ErrorCode, text: string): void {
    this.#forget(wait)
    answer(wait.from, wait.message, code, text)
  }

  #forget(wait: ControlWait): void {
    wait.to.controlWaits.delete(wait.message.rpc_id)
    this.#deadlines.delete(wait)
  }

  #target(from: WorkerSession, { destination }: ControlMessage, content: ControlContent | undefined): Target {
    const { placement, sessions } = this.#options
    const agent = readAgent(destination)
    const inner = agentIn(content)
    for (const id of [agent, inner]) {
      if (id && !from.grant.maySend(id.type)) {
        return ["HOST_REFUSED", `The host does not let this worker reach agents of type ${id.type}.`]
      }
    }
    if (agent && inner && (agent.type !== inner.type || agent.key !== inner.key)) {
      return ["MESSAGE_INVALID", "The control message is addressed to one agent, but about another."]
    }
    // What names no agent could be about any; whether a send is waited for is no secret.
    if (!agent && !inner && !isAboutSend(content) && !from.grant.maySend("*")) {
      return ["HOST_REFUSED", "The host does not let this worker send control messages to workers."]
    }
    const place = agent ? placement.find(agent, true) : sessions.get(readClient(destination) ?? "")
    if (place === undefined) return ["WORKER_LOST", "No worker has the client id of the control message."]
    if (typeof place === "string") {
      const code = place === "SETTLING" || place === "DRAINING" ? "TRY_LATER" : place
      return [code, `There is no agent ${destination.slice(AGENT.length)}.`]
    }
    if (place.isPlain && !place.control) return ["WORKER_LOST", "The worker has no control channel."]
    return place
  }
}

const AGENT = "agentid="
const CLIENT = "clientid="

function readAgent(destination: string): WireAgentId | undefined {
  if (!destination.startsWith(AGENT)) return undefined
  const [type = "", ...key] = destination.slice(AGENT.length).split("/")
  return { type, key: key.join("/") }
}

function readClient(destination: string): string | undefined {
  return destination.startsWith(CLIENT) ? destination.slice(CLIENT.length) : undefined
}

/** The agent that a question is about. */
function agentIn(content: ControlContent | undefined): WireAgentId | undefined {
  if (content?.name === "SaveStateRequest" || content?.name === "LoadStateRequest") {
    return content.value.agentId ?? undefined
  }
  const { agent } = callIn(content)
  return agent ? { type: String(agent.type), key: String(agent.key) } : undefined
}

function isAboutSend(content: ControlContent | undefined): boolean {
  return callIn(content).action === "waited"
}

function callIn(content: ControlContent | undefined): {
  action?: unknown
  agent?: Partial<WireAgentId> | null
} {
  try {
    const call: unknown = content?.name === "ControlCall" ? JSON.parse(content.value.json) : undefined
    return typeof call === "object" && call !== null ? call : {}
  } catch {
    return {}
  }
}

function contentOf(any: WireAny | null | undefined): ControlContent | undefined {
  try {
    return any ? unpackAny(any) : undefined
  } catch {
    return undefined
  }
}

function isFailure(target: Target): target is readonly [ErrorCode, string] {
  return Array.isArray(target)
}

function answer(to: WorkerSession, message: ControlMessage, code: ErrorCode, error: string): void {
  if (message.respond_to === undefined || message.respond_to === "") return
  const { rpc_id, respond_to: destination } = message
  write(to, { rpc_id, destination, rpcMessage: failureFor(contentOf(message.rpcMessage), code, error) })
}

function failureFor(content: ControlContent | undefined, code: ErrorCode, error: string): WireAny {
  // AutoGen's answers have no field for a code, so it leads the text.
  const text = `[${code}] ${error}`
  if (content?.name === "SaveStateRequest") return packAny("SaveStateResponse", { state: "", error: text })
  if (content?.name === "LoadStateRequest") return packAny("LoadStateResponse", { error: text })
  return packAny("ControlAnswer", { json: "", error, code })
}

function write({ control }: WorkerSession, message: ControlMessage): void {
  if (control && control.writableLength < MAX_BUFFERED) control.write(message)
}
