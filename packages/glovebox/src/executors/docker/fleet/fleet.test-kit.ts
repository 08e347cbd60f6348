import type { ImageState } from "./placement.ts"
import type { TurnHost, TurnTenant } from "./turn-queue.ts"

/** An engine as placement sees it, without an engine. */
export class StandInHost implements TurnHost {
  state: TurnHost["state"] = "up"
  running = 0
  isDraining = false
  isTroubled = false
  most = 0
  readonly images = new Map<string, ImageState>([["image", "present"]])
  readonly name: string
  readonly capacity: number

  constructor(name: string, capacity: number, changes: Partial<Pick<StandInHost, "state" | "running">> = {}) {
    this.name = name
    this.capacity = capacity
    Object.assign(this, changes)
  }

  imageState(image: string): ImageState {
    return this.images.get(image) ?? "absent"
  }

  begin(): void {
    this.running += 1
    this.most = Math.max(this.most, this.running)
  }

  end(): void {
    this.running -= 1
  }
}

export function turnTenant(name: string, limits: Partial<TurnTenant> = {}): TurnTenant {
  return { name, concurrentRuns: Infinity, maxQueued: 1000, running: 0, ...limits }
}

/** A clock that goes only when it is told to. */
export class Clock {
  at = 1_000_000
  readonly now = (): number => this.at
}
