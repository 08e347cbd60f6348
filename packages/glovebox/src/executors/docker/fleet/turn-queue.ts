import { watchAbort } from "../../../internal/watch-abort.ts"
import { type HostView, type PlaceRequest, type Placement, place } from "./placement.ts"

/** An engine that counts the work on it. */
export interface TurnHost extends HostView {
  begin(): void
  end(): void
}

/** What fairness between tenants goes by. */
export interface TurnTenant {
  readonly name: string
  readonly concurrentRuns: number
  readonly maxQueued: number
  running: number
}

export interface TurnRequest {
  readonly tenant: TurnTenant
  readonly where: PlaceRequest
  /** Whether it had its turn already, and an engine failed it: then it is the first of its tenant, and never refused for want of room. */
  readonly isAgain: boolean
  /** The error when it cannot be placed, or when the queue is full. */
  readonly refuse: (because: Refusal) => Error
}

export type Refusal = "full" | Extract<Placement<never>, { kind: "none" }>["because"]

export interface Turn<Host> {
  readonly host: Host
  /** To be called when the work is over; once, however often. */
  end(): void
}

interface Waiting<Host> {
  readonly request: TurnRequest
  readonly enter: (turn: Turn<Host>) => void
  readonly fail: (error: unknown) => void
}

/**
 * Who is next. A place goes to the tenant with the least work at that moment, and among equals to the one that had its
 * last turn the longest ago; within a tenant to the first that can use it. So whatever one tenant asks for, the next place
 * goes to another that waits.
 */
export class TurnQueue<Host extends TurnHost> {
  readonly #hosts: readonly Host[]
  readonly #waiting = new Map<TurnTenant, Waiting<Host>[]>()
  readonly #lastTurns = new WeakMap<TurnTenant, number>()
  #turns = 0
  #isDispatching = false
  #ended: { readonly reason: unknown } | undefined

  constructor(hosts: readonly Host[]) {
    this.#hosts = hosts
  }

  waitingOf(tenant: TurnTenant): number {
    return this.#waiting.get(tenant)?.length ?? 0
  }

  /** Waits for a place; rejects when there can be none, or with the signal's reason. */
  async take(request: TurnRequest, signal: AbortSignal): Promise<Turn<Host>> {
    signal.throwIfAborted()
    if (this.#ended) throw this.#ended.reason
    return new Promise<Turn<Host>>((resolve, reject) => {
      const leave = (): void => {
        unwatch()
        this.#remove(waiting)
      }
      const waiting: Waiting<Host> = {
        request,
        enter: (turn) => {
          leave()
          resolve(turn)
        },
        fail: (error) => {
          leave()
          reject(error)
        },
      }
      this.#add(waiting)
      const unwatch = watchAbort(signal, (reason) => waiting.fail(reason))
      this.dispatch()
      if (!request.isAgain && this.#isTooLong(waiting)) waiting.fail(request.refuse("full"))
    })
  }

  /** Gives places to those who wait; to be called whenever an engine has changed. */
  dispatch(): void {
    // Whoever gets a place may give it back at once.
    if (this.#isDispatching) return
    this.#isDispatching = true
    try {
      while (this.#giveOne()) {
        // One after the other, as each changes who is next.
      }
    } finally {
      this.#isDispatching = false
    }
  }

  /** Ends all waiting, now and later. */
  close(reason: unknown): void {
    this.#ended = { reason }
    for (const waiting of [...this.#waiting.values()].flat()) waiting.fail(reason)
  }

  #giveOne(): boolean {
    const tenants = [...this.#waiting.keys()].toSorted(
      (a, b) => a.running - b.running || this.#lastTurn(a) - this.#lastTurn(b),
    )
    for (const tenant of tenants) {
      // What one of them cannot have, others that ask for the same cannot have either.
      const hopeless = new Set<string>()
      for (const waiting of this.#waiting.get(tenant)?.slice() ?? []) {
        const kind = keyOf(waiting.request.where)
        if (hopeless.has(kind)) continue
        const placement = place(this.#hosts, waiting.request.where)
        if (placement.kind === "none") waiting.fail(waiting.request.refuse(placement.because))
        else if (placement.kind === "wait" || tenant.running >= tenant.concurrentRuns) hopeless.add(kind)
        else {
          this.#give(waiting, placement.host)
          return true
        }
      }
    }
    return false
  }

  #give({ request: { tenant }, enter }: Waiting<Host>, host: Host): void {
    tenant.running += 1
    host.begin()
    this.#lastTurns.set(tenant, (this.#turns += 1))
    let isOver = false
    const end = (): void => {
      if (isOver) return
      isOver = true
      tenant.running -= 1
      host.end()
      this.dispatch()
    }
    enter({ host, end })
  }

  #add(waiting: Waiting<Host>): void {
    const { tenant, isAgain } = waiting.request
    const list = this.#waiting.get(tenant) ?? []
    this.#waiting.set(tenant, list)
    if (isAgain) list.unshift(waiting)
    else list.push(waiting)
  }

  #remove(waiting: Waiting<Host>): void {
    const { tenant } = waiting.request
    const list = this.#waiting.get(tenant)
    const index = list?.indexOf(waiting) ?? -1
    if (!list || index === -1) return
    list.splice(index, 1)
    if (list.length === 0) this.#waiting.delete(tenant)
  }

  #isTooLong(waiting: Waiting<Host>): boolean {
    const list = this.#waiting.get(waiting.request.tenant) ?? []
    return list.includes(waiting) && list.length > waiting.request.tenant.maxQueued
  }

  #lastTurn(tenant: TurnTenant): number {
    return this.#lastTurns.get(tenant) ?? 0
  }
}

function keyOf({ image, only, tried }: PlaceRequest): string {
  return JSON.stringify([image, only ?? null, [...tried]])
}
