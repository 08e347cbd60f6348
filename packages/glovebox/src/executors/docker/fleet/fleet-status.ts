import type { PoolState } from "../../pool-state.ts"
import type { FleetCore } from "./fleet-core.ts"
import type { HostState } from "./placement.ts"

export interface FleetHostStatus {
  readonly name: string
  /** "unknown" until it was asked for the first time. */
  readonly state: HostState
  readonly draining: boolean
  readonly capacity: number
  /** Calls that run there. */
  readonly running: number
  readonly sessions: number
  /** Containers that wait and that work. */
  readonly containers: { readonly ready: number; readonly busy: number }
  /** Which of the tenants' images it has. */
  readonly images: readonly string[]
  /** Why it is down. */
  readonly lastError?: string | undefined
}

export interface FleetTenantStatus {
  readonly name: string
  readonly running: number
  readonly waiting: number
  readonly sessions: number
  /** With a quota of runs alone. */
  readonly runsLastMinute?: number | undefined
  /** With a quota of CPU time alone; below zero it is a debt. */
  readonly cpuSecondsLeft?: number | undefined
}

export interface FleetStatus {
  readonly hosts: readonly FleetHostStatus[]
  readonly tenants: readonly FleetTenantStatus[]
}

export function fleetStatus({ hosts, loads, queue }: FleetCore): FleetStatus {
  return {
    hosts: hosts.map((host) => ({
      name: host.name,
      state: host.state,
      draining: host.isDraining,
      capacity: host.capacity,
      running: host.running,
      sessions: host.sessions,
      containers: sum([...host.groups.values()].map(({ state }) => state)),
      images: host.images,
      lastError: host.lastError,
    })),
    tenants: [...loads.values()].map((load) => ({
      name: load.name,
      running: load.running,
      waiting: queue.waitingOf(load),
      sessions: load.sessions,
      runsLastMinute: load.runsLastMinute,
      cpuSecondsLeft: load.cpuSecondsLeft,
    })),
  }
}

function sum(states: readonly PoolState[]): { ready: number; busy: number } {
  return {
    ready: states.reduce((total, { ready }) => total + ready, 0),
    busy: states.reduce((total, { busy }) => total + busy, 0),
  }
}
