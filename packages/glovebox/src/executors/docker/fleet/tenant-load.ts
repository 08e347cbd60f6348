import { CpuBudget } from "./cpu-budget.ts"
import type { FleetTenant } from "./fleet-tenant.ts"
import { type CountedRun, RunWindow } from "./run-window.ts"
import { TryLaterError } from "./try-later-error.ts"
import type { TurnTenant } from "./turn-queue.ts"

const SHORTEST_GUESS_MS = 50
const LONGEST_GUESS_MS = 60_000
const FIRST_GUESS_MS = 1_000
const NEW_WEIGHT = 0.2

const UNCOUNTED: CountedRun = { begin: () => {}, undo: () => {} }

/** What a tenant uses at this moment, against what it may. */
export class TenantLoad implements TurnTenant {
  readonly tenant: FleetTenant
  running = 0
  #sessions = 0
  readonly #runs: RunWindow | undefined
  readonly #cpu: CpuBudget | undefined
  #usualMs = FIRST_GUESS_MS

  constructor(tenant: FleetTenant, now: () => number) {
    const { runsPerMinute, cpuSeconds } = tenant.quota
    this.tenant = tenant
    this.#runs = runsPerMinute === undefined ? undefined : new RunWindow(runsPerMinute, now)
    this.#cpu = cpuSeconds && new CpuBudget(cpuSeconds, now)
  }

  get name(): string {
    return this.tenant.name
  }

  get concurrentRuns(): number {
    return this.tenant.quota.concurrentRuns ?? Infinity
  }

  get maxQueued(): number {
    return this.tenant.maxQueued
  }

  get sessions(): number {
    return this.#sessions
  }

  get runsLastMinute(): number | undefined {
    return this.#runs?.count
  }

  /** Below zero it is a debt; undefined without a quota. */
  get cpuSecondsLeft(): number | undefined {
    return this.#cpu?.left
  }

  get isMetered(): boolean {
    return this.#cpu !== undefined
  }

  /** Counts a call. @throws TryLaterError when a rate is used up */
  admit(): CountedRun {
    const { runsPerMinute, cpuSeconds } = this.tenant.quota
    const cpuWait = this.#cpu?.waitMs() ?? 0
    if (cpuWait > 0) {
      const granted = `${cpuSeconds?.amount} CPU-seconds in ${cpuSeconds?.perMs} ms`
      throw this.#tryLater("cpuSeconds", `The tenant ${this.name} has used up its ${granted}.`, cpuWait)
    }
    const runsWait = this.#runs?.waitMs() ?? 0
    if (runsWait > 0) {
      const message = `The tenant ${this.name} has begun ${runsPerMinute} runs within a minute, which is all it may.`
      throw this.#tryLater("runsPerMinute", message, runsWait)
    }
    return this.#runs?.take() ?? UNCOUNTED
  }

  /** Counts a session; the result lets it go, once. @throws TryLaterError when there are as many as may be */
  beginSession(): () => void {
    const { sessions } = this.tenant.quota
    if (this.#sessions >= sessions) {
      const message = `The tenant ${this.name} has ${this.#sessions} sessions, and may have ${sessions}. stop() ends one.`
      throw this.#tryLater("sessions", message, this.#guessMs())
    }
    this.#sessions += 1
    let isOver = false
    return () => {
      if (!isOver) this.#sessions -= 1
      isOver = true
    }
  }

  charge(cpuSeconds: number): void {
    this.#cpu?.charge(cpuSeconds)
  }

  /** Learns how long its calls take, for the guess when there is room again. */
  tookMs(ms: number): void {
    this.#usualMs += (ms - this.#usualMs) * NEW_WEIGHT
  }

  /** The error for a call that cannot even wait. */
  full(): TryLaterError {
    const queue = `and ${this.maxQueued} calls wait already, which is as many as may.`
    if (this.running >= this.concurrentRuns) {
      const message = `The tenant ${this.name} runs ${this.running} calls at a time, which is all it may, ${queue}`
      return this.#tryLater("concurrentRuns", message, this.#guessMs())
    }
    const message = `The engines of the tenant ${this.name} have no room, ${queue}`
    return this.#tryLater("capacity", message, this.#guessMs())
  }

  drained(): TryLaterError {
    const message = `All engines of the tenant ${this.name} that answer are being drained.`
    return this.#tryLater("capacity", message, LONGEST_GUESS_MS)
  }

  #guessMs(): number {
    return Math.min(LONGEST_GUESS_MS, Math.max(SHORTEST_GUESS_MS, this.#usualMs))
  }

  #tryLater(quota: TryLaterError["quota"], message: string, retryAfterMs: number): TryLaterError {
    return new TryLaterError(message, { tenant: this.name, quota, retryAfterMs })
  }
}
