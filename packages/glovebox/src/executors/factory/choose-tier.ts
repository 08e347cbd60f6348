import { GloveboxError } from "../../core/index.ts"
import { type PolicyFields, type SandboxPolicy, TIERS, type Tier } from "../../policy/index.ts"
import type { TierProbe } from "./tier-probe.ts"

export interface TriedTier {
  readonly sandbox: Tier
  /** Why it was not taken. */
  readonly reason: string
  /** What to do, if it is to be taken. */
  readonly remedy?: string | undefined
}

export interface ChosenTier {
  readonly tier: Tier
  readonly because: string
  readonly tried: readonly TriedTier[]
}

export interface ChooseTierOptions {
  readonly sandbox: Tier | "auto"
  readonly policy: SandboxPolicy
  /** The option by which it can only be Docker. */
  readonly asksForDocker?: string | undefined
  readonly probe: (tier: Tier) => Promise<TierProbe>
}

const SANDBOXED = TIERS.filter((tier) => tier !== "local")
const STRENGTH: readonly (PolicyFields["isolation"] | "none")[] = ["none", "wasm", "container"]
// Docker says itself what its runtime gives.
const GIVES: Partial<Record<Tier, "none" | "wasm" | "container">> = {
  bubblewrap: "container",
  wasm: "wasm",
  local: "none",
}

/** Which sandbox it is to be: the one that was asked for, or the first that works and may; never the host by itself. */
export async function chooseTier(options: ChooseTierOptions): Promise<ChosenTier> {
  const { policy, probe, asksForDocker } = options
  const asked = options.sandbox === "auto" ? asksForDocker && "docker" : options.sandbox
  if (asked) {
    const forbidden = forbiddenBy(policy, asked)
    if (forbidden !== undefined) throw await forbiddenError(asked, forbidden, options)
    const because = options.sandbox === "auto" ? `${asksForDocker} asks for it` : "it was asked for"
    return { tier: asked, because, tried: [] }
  }
  const tried: TriedTier[] = []
  for (const tier of candidates(policy)) {
    const forbidden = forbiddenBy(policy, tier)
    if (forbidden !== undefined) {
      tried.push({ sandbox: tier, reason: forbidden })
      continue
    }
    const { isAvailable, detail, remedy } = await probe(tier)
    if (isAvailable) return { tier, because: reasonFor(detail, tried), tried }
    tried.push({ sandbox: tier, reason: detail, ...(remedy === undefined ? {} : { remedy }) })
  }
  throw nothingWorks(tried, policy)
}

/** Why the policy does not let a kind of sandbox run the code; undefined when it does. */
export function forbiddenBy({ fields }: SandboxPolicy, tier: Tier): string | undefined {
  const { tiers, isolation } = fields
  if (tiers && !tiers.includes(tier)) return `the policy names only ${tiers.join(", ")} (tiers)`
  const gives = GIVES[tier]
  if (isolation === undefined || gives === undefined) return undefined
  const needed = STRENGTH.indexOf(isolation)
  if (needed !== -1 && STRENGTH.indexOf(gives) >= needed) return undefined
  return `the policy requires the isolation "${isolation}", and ${tier} gives "${gives}"`
}

// Bubblewrap only where the policy names it: what a machine happens to have installed is not to decide.
function candidates({ fields }: SandboxPolicy): readonly Tier[] {
  const named = fields.tiers?.includes("bubblewrap") === true
  return named ? ["docker", "bubblewrap", "wasm"] : ["docker", "wasm"]
}

function reasonFor(detail: string, tried: readonly TriedTier[]): string {
  const others = tried.map(({ reason }) => reason)
  return others.length === 0 ? detail : `${others.join(", and ")}; ${detail}`
}

async function forbiddenError(
  tier: Tier,
  reason: string,
  { policy, probe }: ChooseTierOptions,
): Promise<GloveboxError> {
  const allowed = SANDBOXED.filter((other) => forbiddenBy(policy, other) === undefined)
  const probes = await Promise.all(
    allowed.map(async (other) => ({ other, isAvailable: (await probe(other)).isAvailable })),
  )
  const working = probes.filter(({ isAvailable }) => isAvailable).map(({ other }) => other)
  const instead =
    allowed.length === 0
      ? "It allows no sandbox at all."
      : `It allows ${allowed.join(", ")}; of these ${working.length === 0 ? "none works" : `${working.join(", ")} can be used`} here.`
  return new GloveboxError(
    "SANDBOX_FORBIDDEN",
    `The policy does not let ${tier} run the code: ${reason}. ${instead}`,
  )
}

function nothingWorks(tried: readonly TriedTier[], policy: SandboxPolicy): GloveboxError {
  const reasons = tried
    .map(
      ({ sandbox, reason, remedy }) => `${sandbox}: ${reason}${remedy === undefined ? "" : ` (${remedy})`}`,
    )
    .join("; ")
  const isForbidden = tried.some(({ sandbox }) => forbiddenBy(policy, sandbox) !== undefined)
  return new GloveboxError(
    isForbidden ? "SANDBOX_FORBIDDEN" : "SANDBOX_UNAVAILABLE",
    `No sandbox that ${isForbidden ? "the policy allows" : "is chosen by itself"} works here. ${reasons}.`,
  )
}
