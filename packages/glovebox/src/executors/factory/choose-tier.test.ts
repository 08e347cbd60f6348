import { describe, expect, it } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { type PolicyInput, SandboxPolicy, TIERS, type Tier } from "../../policy/index.ts"
import { type ChosenTier, chooseTier } from "./choose-tier.ts"
import type { TierProbe } from "./tier-probe.ts"

interface Machine {
  readonly works: readonly Tier[]
  readonly asked: Tier[]
  readonly probe: (tier: Tier) => Promise<TierProbe>
}

function machineWith(...works: Tier[]): Machine {
  const asked: Tier[] = []
  return {
    works,
    asked,
    probe: async (tier) => {
      asked.push(tier)
      return works.includes(tier)
        ? { isAvailable: true, detail: `${tier} is fine` }
        : { isAvailable: false, detail: `${tier} is broken`, remedy: `mend ${tier}` }
    },
  }
}

async function choose(
  { probe }: Machine,
  sandbox: Tier | "auto",
  policy: PolicyInput = {},
  asksForDocker?: string,
): Promise<ChosenTier> {
  return chooseTier({ sandbox, policy: new SandboxPolicy(policy), probe, asksForDocker })
}

describe("auto", () => {
  it("is Docker where it works, and looks no further", async () => {
    const machine = machineWith("docker", "wasm", "bubblewrap")
    expect(await choose(machine, "auto")).toEqual({ tier: "docker", because: "docker is fine", tried: [] })
    expect(machine.asked).toEqual(["docker"])
  })

  it("is the embedded sandbox where Docker does not work, and says why", async () => {
    const machine = machineWith("wasm", "bubblewrap", "jupyter", "local")
    expect(await choose(machine, "auto")).toEqual({
      tier: "wasm",
      because: "docker is broken; wasm is fine",
      tried: [{ sandbox: "docker", reason: "docker is broken", remedy: "mend docker" }],
    })
    expect(machine.asked).toEqual(["docker", "wasm"])
  })

  it("is bubblewrap only where the policy names it", async () => {
    const machine = machineWith("wasm", "bubblewrap")
    expect((await choose(machine, "auto", { tiers: ["docker", "bubblewrap", "wasm"] })).tier).toBe(
      "bubblewrap",
    )
    expect((await choose(machine, "auto", { tiers: ["docker", "wasm"] })).tier).toBe("wasm")
  })

  it("is never the host, whatever the policy names", async () => {
    const machine = machineWith("local")
    for (const tiers of [["local"], [...TIERS]] as const) {
      const failure = choose(machine, "auto", { tiers: [...tiers] })
      await expect(failure).rejects.toThrow(/docker/)
    }
    expect(machine.asked).not.toContain("local")
  })

  it("does not pass over what the policy forbids in silence", async () => {
    const machine = machineWith("wasm", "bubblewrap")
    await expectFailure(
      choose(machine, "auto", { tiers: ["docker"] }),
      "SANDBOX_FORBIDDEN",
      /docker: docker is broken \(mend docker\); wasm: the policy names only docker/,
    )
    await expectFailure(
      choose(machine, "auto", { isolation: "container" }),
      "SANDBOX_FORBIDDEN",
      /wasm: the policy requires the isolation "container", and wasm gives "wasm"/,
    )
    expect(machine.asked).not.toContain("wasm")
  })

  it("is Docker or nothing where an option names an engine or an image", async () => {
    const machine = machineWith("wasm")
    const because = "image asks for it"
    expect(await choose(machine, "auto", {}, "image")).toEqual({ tier: "docker", because, tried: [] })
    expect(machine.asked).toEqual([])
    await expectFailure(choose(machine, "auto", { tiers: ["wasm"] }, "image"), "SANDBOX_FORBIDDEN", /docker/)
  })
})

describe("a kind that is asked for", () => {
  it("is taken without a look at the others", async () => {
    for (const tier of TIERS) {
      const machine = machineWith()
      expect(await choose(machine, tier)).toEqual({ tier, because: "it was asked for", tried: [] })
      expect(machine.asked).toEqual([])
    }
  })

  it("is refused where the policy forbids it, naming what is allowed and what of that works", async () => {
    const failure = choose(machineWith("bubblewrap", "wasm"), "wasm", {
      tiers: ["docker", "bubblewrap", "local"],
    })
    await expectFailure(
      failure,
      "SANDBOX_FORBIDDEN",
      /does not let wasm run the code: .*docker, bubblewrap, local \(tiers\)\. It allows docker, bubblewrap; of these bubblewrap can be used here/,
    )
    await expectFailure(
      choose(machineWith(), "local", { isolation: "container" }),
      "SANDBOX_FORBIDDEN",
      /and local gives "none"\. It allows docker, jupyter, bubblewrap; of these none works here/,
    )
    await expectFailure(
      choose(machineWith("bubblewrap"), "bubblewrap", { isolation: "vm" }),
      "SANDBOX_FORBIDDEN",
    )
  })

  it("may be weaker than the strongest when the policy says nothing of it", async () => {
    expect((await choose(machineWith(), "wasm", { isolation: "wasm" })).tier).toBe("wasm")
    expect((await choose(machineWith(), "bubblewrap", { isolation: "wasm" })).tier).toBe("bubblewrap")
    await expectFailure(choose(machineWith(), "local", { isolation: "wasm" }), "SANDBOX_FORBIDDEN")
  })
})
