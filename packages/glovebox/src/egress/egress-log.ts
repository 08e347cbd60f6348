import type {
  EgressConnection,
  EgressDenial,
  EgressEnd,
  EgressEvent,
  EgressRecords,
  EgressVia,
} from "./egress-event.ts"

/** What a client asked for, as far as it is known. */
export interface Asked {
  via: EgressVia
  host: string
  port: number
  method?: string | undefined
  path?: string | undefined
}

/** A connection that was allowed; its fields change while it is open. */
export interface OpenConnection {
  readonly startedAt: number
  rule: string
  readonly address: string | undefined
  bytesUp: number
  bytesDown: number
}

interface Entry {
  /** Looks at it as it is now. */
  readonly look: () => EgressConnection
  isOpen: boolean
}

const MOST_ENTRIES = 1000

/** Remembers connections, the first thousand, and tells of each as it happens. */
export class EgressLog {
  readonly #onEvent: (event: EgressEvent) => void
  #entries: Entry[] = []
  #isTruncated = false
  #lastId = 0

  constructor(onEvent: (event: EgressEvent) => void) {
    this.#onEvent = onEvent
  }

  records(): EgressRecords {
    return { connections: this.#entries.map(({ look }) => look()), truncated: this.#isTruncated }
  }

  /** Forgets what is closed. */
  forget(): void {
    this.#entries = this.#entries.filter(({ isOpen }) => isOpen)
    this.#isTruncated = false
  }

  deny(asked: Asked, denial: EgressDenial, ended: EgressEnd, startedAt: number): void {
    const connection: EgressConnection = {
      id: this.#nextId(),
      ...asked,
      verdict: "denied",
      denial,
      bytesUp: 0,
      bytesDown: 0,
      durationMs: elapsed(startedAt),
      ended,
    }
    this.#remember({ look: () => connection, isOpen: false })
    this.#tell({ state: "denied", connection })
  }

  /** Writes down that a connection is open; the result writes down its end. */
  open(asked: Asked, open: OpenConnection): (ended: EgressEnd, denial?: EgressDenial) => void {
    const id = this.#nextId()
    const look = (): EgressConnection => {
      const { rule, address, bytesUp, bytesDown, startedAt } = open
      const durationMs = elapsed(startedAt)
      return { id, ...asked, verdict: "allowed", rule, address, bytesUp, bytesDown, durationMs }
    }
    let connection: EgressConnection | undefined
    const entry: Entry = { look: () => connection ?? look(), isOpen: true }
    this.#remember(entry)
    this.#tell({ state: "opened", connection: look() })
    return (ended, denial) => {
      if (connection) return
      connection = { ...look(), ...(denial ? { denial } : {}), ended }
      entry.isOpen = false
      this.#tell({ state: "closed", connection })
    }
  }

  #nextId(): number {
    this.#lastId += 1
    return this.#lastId
  }

  #remember(entry: Entry): void {
    if (this.#entries.length < MOST_ENTRIES) this.#entries.push(entry)
    else this.#isTruncated = true
  }

  #tell(event: EgressEvent): void {
    try {
      this.#onEvent(event)
    } catch {
      // A listener's fault is not the connection's.
    }
  }
}

function elapsed(startedAt: number): number {
  return Math.round(performance.now() - startedAt)
}
