import { describe, expect, it } from "vitest"
import { failureOf } from "../core/failure-of.test-kit.ts"
import { SandboxPolicy, TIERS, checkTier } from "./index.ts"

describe("checkTier", () => {
  it("lets every kind through that the policy names, and no other", () => {
    const policy = new SandboxPolicy({ tiers: ["bubblewrap", "docker"] })
    for (const tier of ["docker", "bubblewrap"] as const) expect(() => checkTier(policy, tier)).not.toThrow()
    for (const tier of ["jupyter", "wasm", "local"] as const)
      expect(() => checkTier(policy, tier)).toThrow(tier)
    expect(failureOf(() => checkTier(policy, "wasm"))).toBe(
      "SANDBOX_FORBIDDEN: The policy lets code run in docker, bubblewrap alone (tiers), and this is wasm.",
    )
  })

  it("lets all through where the policy names none", () => {
    for (const tier of TIERS) expect(() => checkTier(new SandboxPolicy(), tier)).not.toThrow()
  })
})
