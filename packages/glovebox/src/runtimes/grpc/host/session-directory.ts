import { GloveboxError } from "../../../core/glovebox-error.ts"
import type { OutboxExits, OutboxLimits } from "./outbox.ts"
import { WorkerSession } from "./worker-session.ts"

export interface SessionDirectoryOptions {
  readonly limits: OutboxLimits
  readonly onRefused: OutboxExits["onRefused"]
  readonly graceMs: number
  readonly onExpired: (session: WorkerSession) => void
}

const MAX_SESSIONS = 20_000

/** All clients of the host by their ids. */
export class SessionDirectory implements Iterable<WorkerSession> {
  readonly #sessions = new Map<string, WorkerSession>()
  readonly #options: SessionDirectoryOptions

  constructor(options: SessionDirectoryOptions) {
    this.#options = options
  }

  [Symbol.iterator](): Iterator<WorkerSession> {
    return this.#sessions.values()
  }

  get size(): number {
    return this.#sessions.size
  }

  get(clientId: string): WorkerSession | undefined {
    return this.#sessions.get(clientId)
  }

  /** A client that has no channel yet is forgotten after the grace time. */
  create(clientId: string): WorkerSession {
    if (this.#sessions.size >= MAX_SESSIONS) {
      throw new GloveboxError("QUEUE_FULL", "The host has as many clients as it can. Try again later.")
    }
    const { limits, onRefused } = this.#options
    const session = new WorkerSession(clientId, limits, onRefused)
    this.#sessions.set(clientId, session)
    this.startGrace(session)
    return session
  }

  startGrace(session: WorkerSession): void {
    const { graceMs, onExpired } = this.#options
    clearTimeout(session.graceTimer)
    session.graceTimer = setTimeout(() => onExpired(session), graceMs)
    session.graceTimer.unref()
  }

  delete(session: WorkerSession): void {
    clearTimeout(session.graceTimer)
    if (this.#sessions.get(session.clientId) === session) this.#sessions.delete(session.clientId)
  }
}
