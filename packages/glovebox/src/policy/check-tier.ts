import { GloveboxError } from "../core/index.ts"
import type { Tier } from "./policy-schema.ts"
import type { SandboxPolicy } from "./sandbox-policy.ts"

/** Refuses a kind of sandbox that the policy does not name; every executor asks before anything runs. */
export function checkTier({ fields: { tiers } }: SandboxPolicy, tier: Tier): void {
  if (!tiers || tiers.includes(tier)) return
  throw new GloveboxError(
    "SANDBOX_FORBIDDEN",
    `The policy lets code run in ${tiers.join(", ")} alone (tiers), and this is ${tier}.`,
  )
}
