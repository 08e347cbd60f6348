import { describe, expect, it } from "vitest"
import { StandInHost } from "./fleet.test-kit.ts"
import { type PlaceRequest, place } from "./placement.ts"

function request(changes: Partial<PlaceRequest> = {}): PlaceRequest {
  return { hosts: new Set(["a", "b", "c"]), image: "image", canPull: true, tried: new Set(), ...changes }
}

function placed(hosts: readonly StandInHost[], changes: Partial<PlaceRequest> = {}): string {
  const placement = place(hosts, request(changes))
  if (placement.kind === "placed") return placement.host.name
  return placement.kind === "none" ? `none: ${placement.because}` : "wait"
}

describe("place", () => {
  it("takes the engine with the most room", () => {
    const hosts = [new StandInHost("a", 4, { running: 2 }), new StandInHost("b", 8, { running: 5 })]
    expect(placed(hosts)).toBe("b")
    hosts[1]!.running = 7
    expect(placed(hosts)).toBe("a")
    hosts[0]!.running = 4
    hosts[1]!.running = 8
    expect(placed(hosts)).toBe("wait")
  })

  it("takes an engine without the image only when none with it is free, and only if it can get it", () => {
    const [a, b] = [new StandInHost("a", 1), new StandInHost("b", 100)]
    b.images.clear()
    expect(placed([a, b])).toBe("a")
    a.running = 1
    expect(placed([a, b])).toBe("b")
    expect(placed([a, b], { canPull: false })).toBe("wait")
    b.images.set("image", "unavailable")
    expect(placed([a, b])).toBe("wait")
    a.images.clear()
    expect(placed([a, b])).toBe("wait")
    expect(placed([a, b], { canPull: false })).toBe("none: image")
    a.images.set("image", "present")
    a.isDraining = true
    expect(placed([a, b])).toBe("none: draining")
  })

  it("takes no engine that is down, drained, of others, or that failed the work before", () => {
    const hosts = [new StandInHost("a", 1), new StandInHost("b", 2), new StandInHost("c", 3)]
    expect(placed(hosts, { hosts: new Set(["a"]) })).toBe("a")
    expect(placed(hosts, { tried: new Set(["c"]) })).toBe("b")
    expect(placed(hosts, { tried: new Set(["a", "b", "c"]) })).toBe("none: tried")
    hosts[2]!.state = "down"
    expect(placed(hosts)).toBe("b")
    hosts[1]!.isDraining = true
    expect(placed(hosts)).toBe("a")
    hosts[0]!.state = "down"
    expect(placed(hosts)).toBe("none: draining")
    hosts[1]!.isDraining = false
    hosts[1]!.state = "down"
    expect(placed(hosts)).toBe("none: down")
  })

  it("waits for an engine of which nothing is known yet, and not for it when another is there", () => {
    const [a, b] = [new StandInHost("a", 1, { state: "unknown" }), new StandInHost("b", 1, { state: "down" })]
    expect(placed([a, b])).toBe("wait")
    b.state = "up"
    expect(placed([a, b])).toBe("b")
  })

  it("takes an engine on which work failed lately when there is no other", () => {
    const [a, b] = [new StandInHost("a", 9), new StandInHost("b", 1)]
    a.isTroubled = true
    expect(placed([a, b])).toBe("b")
    b.running = 1
    expect(placed([a, b])).toBe("a")
  })

  it("keeps a session on its engine, drained or not, and waits while that does not answer", () => {
    const [a, b] = [new StandInHost("a", 1), new StandInHost("b", 9)]
    a.isDraining = true
    expect(placed([a, b], { only: "a" })).toBe("a")
    a.state = "down"
    expect(placed([a, b], { only: "a" })).toBe("wait")
  })
})
