import { GloveboxError } from "../../core/index.ts"
import { canonicalJson } from "../../internal/canonical-json.ts"
import { errorMessage } from "../../internal/error-message.ts"
import { type PolicyChange, type PolicyInput, SandboxPolicy } from "../../policy/index.ts"
import type { ToldDescription } from "./describe-executor.ts"

/** The far executor, as it says of itself. */
export interface FarExecutor {
  readonly instance: string
  readonly kind: string
  readonly runsOnHost: boolean
  readonly policy: SandboxPolicy | undefined
  readonly beyondPolicy: readonly PolicyChange[]
  readonly functions: string
}

export function readDescription(instance: string, told: ToldDescription): FarExecutor {
  const { policy: text, policySha256, ...rest } = told
  return { ...rest, instance, policy: text === "" ? undefined : readPolicy(text, policySha256) }
}

/** Refuses an executor that lets code reach more than the one that was shown, when somebody may have agreed to that. */
export function checkWithin(now: FarExecutor, shown: FarExecutor | undefined): void {
  if (!shown || now.instance === shown.instance || isWithin(now, shown)) return
  throw new GloveboxError(
    "SANDBOX_NOT_AS_PROMISED",
    "The executor at the far end is another one than before, in which code may reach more. Nothing was run; look at its policy, and call again.",
  )
}

function isWithin(now: FarExecutor, shown: FarExecutor): boolean {
  if (now.kind !== shown.kind || now.runsOnHost !== shown.runsOnHost) return false
  if (canonicalJson(now.beyondPolicy) !== canonicalJson(shown.beyondPolicy)) return false
  if (!now.policy || !shown.policy) return now.policy === shown.policy
  return now.policy.diff(shown.policy).every(({ effect }) => effect === "narrows")
}

function readPolicy(text: string, sha256: string | undefined): SandboxPolicy {
  let policy: SandboxPolicy
  try {
    policy = new SandboxPolicy(JSON.parse(text) as PolicyInput)
  } catch (cause) {
    throw new GloveboxError("REPLY_INVALID", `The far end's policy cannot be read: ${errorMessage(cause)}`, {
      cause,
    })
  }
  if (policy.sha256 === sha256) return policy
  throw new GloveboxError(
    "REPLY_INVALID",
    "The far end's policy is another than it says: the two sides may be of different versions.",
  )
}
