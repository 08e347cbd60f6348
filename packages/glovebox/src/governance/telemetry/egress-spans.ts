import { type Attributes, SpanKind } from "@opentelemetry/api"
import type { EgressConnection, EgressEvent } from "../../egress/index.ts"
import { AGENT_NAME, EGRESS_VERDICT, ERROR_TYPE } from "./names.ts"
import { Observation } from "./observation.ts"
import type { Observed } from "./observed.ts"
import type { Observer, Redact, Subject } from "./observer.ts"

export interface EgressInfo {
  readonly agent: string
  /** The run whose code asked for the connection. @default the span that is active */
  readonly parent?: Observed<unknown> | undefined
}

interface Open {
  readonly observed: Observed<EgressConnection>
  readonly connection: EgressConnection
}

// What was asked for is then any text that the program likes.
const UNREAD_HOST = new Set(["BAD_REQUEST", "BAD_HOST", "UNSUPPORTED"])
const MOST_OPEN = 1000

/** A span for each connection: from its opening to its end, or to the end of its run. */
export class EgressSpans {
  readonly #observer: Observer
  readonly #redact: Redact
  readonly #ofRuns = new WeakMap<object, Map<number, Open>>()
  readonly #ofAgents = new Map<string, Map<number, Open>>()

  constructor(observer: Observer, redact: Redact) {
    this.#observer = observer
    this.#redact = redact
  }

  tell({ state, connection }: EgressEvent, { agent, parent }: EgressInfo): void {
    const open = this.#openOf(agent, parent)
    if (state === "closed") {
      // The end of its run may have been its end already.
      open.get(connection.id)?.observed.end(connection)
      open.delete(connection.id)
      return
    }
    if (state === "opened" && open.size >= MOST_OPEN) return
    const observed = this.#observer.observe(parent, () => this.#subject(connection, agent))
    if (state === "denied") return observed.end(connection)
    if (!(observed instanceof Observation)) return
    // Of another run whose end nobody told.
    const older = open.get(connection.id)
    older?.observed.end(older.connection)
    open.set(connection.id, { observed, connection })
  }

  /** Ends what a run left open, as its result tells of it. */
  endRun(run: Observed<unknown>, connections: readonly EgressConnection[] = []): void {
    const open = this.#ofRuns.get(run)
    this.#ofRuns.delete(run)
    for (const [id, { observed, connection }] of open ?? []) {
      observed.end(connections.find((last) => last.id === id) ?? connection)
    }
  }

  #openOf(agent: string, parent: Observed<unknown> | undefined): Map<number, Open> {
    // What nobody will end must not be kept by its run.
    const isRun = parent instanceof Observation && !parent.isSettled
    const found = isRun ? this.#ofRuns.get(parent) : this.#ofAgents.get(agent)
    if (found) return found
    const open = new Map<number, Open>()
    if (isRun) this.#ofRuns.set(parent, open)
    else this.#ofAgents.set(agent, open)
    return open
  }

  #subject(asked: EgressConnection, agent: string): Subject<EgressConnection> {
    const isRead = asked.denial === undefined || !UNREAD_HOST.has(asked.denial.code)
    return {
      name: "egress",
      kind: SpanKind.CLIENT,
      attributes: () => ({
        [AGENT_NAME]: agent,
        [EGRESS_VERDICT]: asked.verdict,
        "glovebox.egress.via": asked.via,
        "glovebox.egress.rule": asked.rule ?? asked.denial?.rule,
        ...(isRead ? { "server.address": this.#redact(asked.host), "server.port": asked.port } : {}),
      }),
      outcome: (connection) => endOf(connection),
      failure: ({ denial }) => denial?.code,
      measure: ({ connections, egressBytes }, { outcome, errorType }) => {
        connections.add(1, {
          [EGRESS_VERDICT]: asked.verdict,
          ...(errorType === undefined ? {} : { [ERROR_TYPE]: errorType }),
        })
        if (outcome === undefined || outcome.bytesUp + outcome.bytesDown === 0) return
        egressBytes.add(outcome.bytesUp, { "network.io.direction": "transmit" })
        egressBytes.add(outcome.bytesDown, { "network.io.direction": "receive" })
      },
    }
  }
}

function endOf({ address, denial, ended, bytesUp, bytesDown }: EgressConnection): Attributes {
  return {
    "network.peer.address": address,
    "glovebox.egress.denial": denial?.code,
    "glovebox.egress.ended": ended,
    "glovebox.egress.bytes_up": bytesUp,
    "glovebox.egress.bytes_down": bytesDown,
  }
}
