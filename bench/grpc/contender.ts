import { LineProcess } from "./line-process.ts"
import type { Turn } from "./programs/turn.ts"
import { SUBSCRIBERS, type Workload } from "./workload.ts"

/** Something that does a workload for a while, in processes of its own. */
export interface Contender extends AsyncDisposable {
  /** Of AutoGen. */
  readonly version: string | undefined
  run(workload: Workload): Promise<Turn>
}

const TURN_MS = 500

/** A caller, and where events are counted. */
interface Players {
  readonly processes: readonly LineProcess[]
  readonly caller: LineProcess
  readonly callee?: LineProcess
  /** How many events a turn publishes. */
  readonly events?: number
}

class ProcessContender implements Contender {
  readonly #players: Players
  #delivered = 0

  constructor(players: Players) {
    this.#players = players
  }

  get version(): string | undefined {
    return this.#players.caller.version
  }

  async run(workload: Workload): Promise<Turn> {
    const { caller, callee } = this.#players
    if (workload !== "publish") return await caller.ask(workload, { turnMs: TURN_MS })
    // Echo and relay have nobody to publish to: what events are compared with is their hops.
    return callee ? await this.#publish(callee) : await caller.ask("concurrent", { turnMs: TURN_MS })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const each of this.#players.processes.toReversed()) await each[Symbol.asyncDispose]()
  }

  async #publish(callee: LineProcess): Promise<Turn> {
    const { caller, events: count = 0 } = this.#players
    const operations = count * SUBSCRIBERS
    this.#delivered += operations
    const start = performance.now()
    const received = callee.ask("received", { count: this.#delivered })
    await caller.ask("publish", { count })
    await received
    return { operations, elapsedMs: performance.now() - start }
  }
}

export async function gloveboxContender(): Promise<Contender> {
  const host = await LineProcess.node("glovebox-host")
  const callee = await LineProcess.node("glovebox-callee", host.address, "1", String(SUBSCRIBERS))
  const caller = await LineProcess.node("glovebox-caller", host.address)
  return new ProcessContender({ processes: [host, callee, caller], caller, callee, events: 3_000 })
}

export async function echoContender(): Promise<Contender> {
  const server = await LineProcess.node("echo-server")
  const caller = await LineProcess.node("echo-client", server.address)
  return new ProcessContender({ processes: [server, caller], caller })
}

/** Bytes take the way that a request and its answer take through a host, and nobody looks at them. */
export async function relayContender(): Promise<Contender> {
  const relay = await LineProcess.node("echo-relay")
  const callee = await LineProcess.node("echo-callee", relay.address)
  const caller = await LineProcess.node("echo-client", relay.address)
  return new ProcessContender({ processes: [relay, callee, caller], caller })
}

export async function autogenContender(python: string, script: string): Promise<Contender> {
  const host = await LineProcess.start(python, [script, "host"])
  const callee = await LineProcess.start(python, [script, "callee", host.address])
  const caller = await LineProcess.start(python, [script, "caller", host.address])
  return new ProcessContender({ processes: [host, callee, caller], caller, callee, events: 200 })
}
