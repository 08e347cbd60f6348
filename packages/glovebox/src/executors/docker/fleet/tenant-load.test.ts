import { describe, expect, it } from "vitest"
import { Clock } from "./fleet.test-kit.ts"
import { readTenants } from "./fleet-tenant.ts"
import type { FleetTenantOptions } from "./fleet-options.ts"
import { TenantLoad } from "./tenant-load.ts"
import { TryLaterError } from "./try-later-error.ts"

function load(quota: FleetTenantOptions["quota"], clock: Clock): TenantLoad {
  const tenants = readTenants({ hosts: [{ name: "a", labels: [] }], pull: "never" }, { acme: { quota } })
  return new TenantLoad(tenants.get("acme")!, clock.now)
}

function refusal(act: () => unknown): unknown[] {
  try {
    act()
  } catch (error) {
    if (!(error instanceof TryLaterError)) throw error
    if (!error.message.includes(`${error.retryAfterMs} ms`)) throw error
    return [error.code, error.tenant, error.quota, error.retryAfterMs]
  }
  return ["taken"]
}

describe("a tenant's runs per minute", () => {
  it("are never more within any minute, and the refusal says exactly when there is one again", () => {
    const clock = new Clock()
    const tenant = load({ runsPerMinute: 3 }, clock)
    tenant.admit().begin()
    clock.at += 20_000
    tenant.admit().begin()
    tenant.admit().begin()
    expect(refusal(() => tenant.admit())).toEqual(["TRY_LATER", "acme", "runsPerMinute", 40_000])
    clock.at += 39_999
    expect(refusal(() => tenant.admit())).toEqual(["TRY_LATER", "acme", "runsPerMinute", 1])
    clock.at += 1
    tenant.admit().begin()
    expect(refusal(() => tenant.admit())).toEqual(["TRY_LATER", "acme", "runsPerMinute", 20_000])
    expect(tenant.runsLastMinute).toBe(3)
  })

  it("do not count what did not come to begin", () => {
    const clock = new Clock()
    const tenant = load({ runsPerMinute: 1 }, clock)
    tenant.admit().undo()
    const admission = tenant.admit()
    expect(refusal(() => tenant.admit())[2]).toBe("runsPerMinute")
    admission.undo()
    admission.undo()
    const begun = tenant.admit()
    begun.begin()
    begun.undo()
    expect(refusal(() => tenant.admit())[2]).toBe("runsPerMinute")
  })

  it("count from when they begin, not from when they were asked for", () => {
    const clock = new Clock()
    const tenant = load({ runsPerMinute: 2 }, clock)
    const waiting = [tenant.admit(), tenant.admit()]
    clock.at += 3_600_000
    expect(refusal(() => tenant.admit())).toEqual(["TRY_LATER", "acme", "runsPerMinute", 60_000])
    for (const run of waiting) run.begin()
    clock.at += 30_000
    waiting[0]!.begin()
    expect(refusal(() => tenant.admit())).toEqual(["TRY_LATER", "acme", "runsPerMinute", 30_000])
    clock.at += 30_000
    expect(refusal(() => tenant.admit())).toEqual(["taken"])
  })
})

describe("a tenant's CPU-seconds", () => {
  it("come back evenly, and a debt is paid off first", () => {
    const clock = new Clock()
    const tenant = load({ cpuSeconds: { amount: 10, perMs: 60_000 } }, clock)
    tenant.admit()
    tenant.charge(4)
    tenant.admit()
    tenant.charge(26)
    expect(tenant.cpuSecondsLeft).toBe(-20)
    expect(refusal(() => tenant.admit())).toEqual(["TRY_LATER", "acme", "cpuSeconds", 120_000])
    clock.at += 119_000
    expect(refusal(() => tenant.admit())[2]).toBe("cpuSeconds")
    clock.at += 1_001
    expect(refusal(() => tenant.admit())).toEqual(["taken"])
    clock.at += 10_000_000
    expect(tenant.cpuSecondsLeft).toBe(10)
  })

  it("are not read when there is no quota", () => {
    expect(load({}, new Clock()).isMetered).toBe(false)
  })
})

describe("a tenant's sessions", () => {
  it("are counted until they are let go, once", () => {
    const tenant = load({ sessions: 2 }, new Clock())
    const letGo = tenant.beginSession()
    tenant.beginSession()
    expect(refusal(() => tenant.beginSession()).slice(0, 3)).toEqual(["TRY_LATER", "acme", "sessions"])
    letGo()
    letGo()
    expect(tenant.sessions).toBe(1)
    tenant.beginSession()
    expect(refusal(() => tenant.beginSession())[2]).toBe("sessions")
  })
})

describe("a tenant whose queue is full", () => {
  it("is told whether it is its own limit or that of the engines, and when to come again", () => {
    const tenant = load({ concurrentRuns: 2 }, new Clock())
    expect(tenant.full().quota).toBe("capacity")
    tenant.running = 2
    expect(tenant.full().quota).toBe("concurrentRuns")
    const first = tenant.full().retryAfterMs
    for (let count = 0; count < 20; count += 1) tenant.tookMs(10_000)
    expect(tenant.full().retryAfterMs).toBeGreaterThan(first)
  })
})
