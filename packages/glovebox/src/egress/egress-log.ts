import type {
  EgressConnection,
  EgressDenial,
  EgressEnd,
  EgressEvent,
  EgressRecords,
  EgressVia,
  SecretUse,
} from "./egress-event.ts"

/** What a client asked for, as far as it is known. */
export interface Asked {
  via: EgressVia
  host: string
  port: number
  method?: string | undefined
  path?: string | undefined
  intercepted?: boolean | undefined
  secrets?: readonly SecretUse[] | undefined
  secretsWithheld?: readonly string[] | undefined
}

interface Entry {
  /** Looks at it as it is now. */
  readonly look: () => EgressConnection
  readonly isOpen: boolean
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

  /** Writes down a connection that no rule is for. */
  deny(asked: Asked, denial: EgressDenial, ended: EgressEnd, startedAt: number): void {
    const connection = denied({ id: this.#nextId(), ...asked, ...NO_BYTES, startedAt }, denial, ended)
    this.#remember({ look: () => connection, isOpen: false })
    this.#tell({ state: "denied", connection })
  }

  /** Writes down that a rule lets something be done for a client, before it is done: nothing is to go unseen. */
  begin(asked: Asked, rule: string, startedAt: number): ConnectionRecord {
    const record = new ConnectionRecord(this.#nextId(), asked, rule, startedAt, (event) => this.#tell(event))
    this.#remember(record)
    return record
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

const NO_BYTES = { bytesUp: 0, bytesDown: 0 }

/** A connection that a rule allows, so far; its fields change while it goes on. */
export class ConnectionRecord {
  rule: string
  /** The very address that was dialled. */
  address: string | undefined
  bytesUp = 0
  bytesDown = 0
  readonly #id: number
  readonly #asked: Asked
  readonly #startedAt: number
  readonly #tell: (event: EgressEvent) => void
  #isTold = false
  #last: EgressConnection | undefined

  constructor(id: number, asked: Asked, rule: string, startedAt: number, tell: (event: EgressEvent) => void) {
    this.#id = id
    this.#asked = asked
    this.rule = rule
    this.#startedAt = startedAt
    this.#tell = tell
  }

  get isOpen(): boolean {
    return this.#last === undefined
  }

  readonly look = (): EgressConnection => {
    if (this.#last) return this.#last
    const { rule, address, bytesUp, bytesDown } = this
    const durationMs = elapsed(this.#startedAt)
    return {
      id: this.#id,
      ...this.#asked,
      verdict: "allowed",
      rule,
      address,
      bytesUp,
      bytesDown,
      durationMs,
    }
  }

  /** The last decision was yes, and bytes may pass. */
  open(): void {
    if (this.#isTold) return
    this.#isTold = true
    this.#tell({ state: "opened", connection: this.look() })
  }

  /** Writes down the end, once; with a denial, before it was open, it was none that is allowed. */
  end(ended: EgressEnd, denial?: EgressDenial): void {
    if (this.#last) return
    if (denial && !this.#isTold) {
      const { address, bytesUp, bytesDown } = this
      const known = {
        id: this.#id,
        ...this.#asked,
        ...(address === undefined ? {} : { address }),
        bytesUp,
        bytesDown,
      }
      this.#last = denied({ ...known, startedAt: this.#startedAt }, denial, ended)
      return this.#tell({ state: "denied", connection: this.#last })
    }
    // It left between the decision and its first byte.
    this.open()
    this.#last = { ...this.look(), ...(denial ? { denial } : {}), ended }
    this.#tell({ state: "closed", connection: this.#last })
  }
}

type Known = Omit<EgressConnection, "verdict" | "denial" | "ended" | "durationMs">

function denied(
  { startedAt, ...known }: Known & { readonly startedAt: number },
  denial: EgressDenial,
  ended: EgressEnd,
): EgressConnection {
  return { ...known, verdict: "denied", denial, durationMs: elapsed(startedAt), ended }
}

function elapsed(startedAt: number): number {
  return Math.round(performance.now() - startedAt)
}
