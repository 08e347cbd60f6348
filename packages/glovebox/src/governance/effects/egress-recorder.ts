import type { EgressEvent } from "../../egress/index.ts"
import type { CodeResult } from "../../executors/index.ts"
import { egressData } from "../audit/code-run-data.ts"
import type { Observed } from "../telemetry/index.ts"
import type { Controls } from "./controls.ts"

/** A program can ask for connections as fast as it can write, and must not fill the disk of the log by that. */
const MOST = 10_000
const MOST_WAITING = 256

/** Records what one run of code tried to reach. */
export class EgressRecorder {
  readonly #id: string
  readonly #controls: Controls
  readonly #observed: Observed<CodeResult>
  #waiting: Promise<void>[] = []
  #count = 0
  /** How many are on the disk, or counted there. */
  #told = 0

  constructor(id: string, controls: Controls, observed: Observed<CodeResult>) {
    this.#id = id
    this.#controls = controls
    this.#observed = observed
  }

  /** Takes an event; waits when too many are on their way to the disk. */
  async take(event: EgressEvent): Promise<void> {
    const { agent, log, telemetry } = this.#controls
    this.#count += 1
    if (event.state === "denied") {
      telemetry.denied({ agent, kind: "egress", name: event.connection.host })
    }
    if (this.#count <= MOST) {
      telemetry.egress(event, { agent, parent: this.#observed })
      this.#keep(log.record({ kind: "egress", agent, data: egressData(event, this.#id) }))
    }
    // However many there are: each is a secret that left. Told of before the value leaves; at the end it is told again, and is the same use.
    if (event.state === "opened") {
      for (const { name, host } of event.connection.secrets ?? [])
        this.#keep(
          log.record({ kind: "secret-used", agent, data: { name, host, id: this.#id, how: "egress" } }),
        )
    }
    if (this.#waiting.length >= MOST_WAITING) await this.#settle()
  }

  /** All of it up to now is on the disk; rejects when it could not be. */
  async end(): Promise<void> {
    await this.#settle()
    const more = this.#count - Math.max(MOST, this.#told)
    if (more <= 0) return
    this.#told = this.#count
    const { agent, log } = this.#controls
    const detail = { id: this.#id, count: more }
    await log.record({ kind: "custom", agent, data: { name: "egress-not-recorded", detail } })
  }

  // Told when the run is: until then nobody waits for it.
  #keep(written: Promise<void>): void {
    written.catch(() => {})
    this.#waiting.push(written)
  }

  async #settle(): Promise<void> {
    const waiting = this.#waiting
    this.#waiting = []
    await Promise.all(waiting)
  }
}
