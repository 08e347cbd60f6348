import { GloveboxError } from "../../core/index.ts"
import { SandboxPolicy } from "../../policy/index.ts"

// What the image holds is not a wall, and the code sees this machine's programs in its place.
const HELD = new Set(["image", "limits.wall", "limits.output", "env"])
const DEFAULT = new SandboxPolicy()

/** Refuses what a policy says and nobody enforces on the host; what it leaves unsaid is what `dangerouslyRunOnHost` gives up. */
export function checkHostPolicy(policy: SandboxPolicy): void {
  const asked = new Set(policy.diff(DEFAULT).map(({ path }) => path))
  const loose = [...asked].filter((path) => !HELD.has(path) && !path.startsWith("env.") && path !== "tiers")
  if (loose.length === 0) return
  throw new GloveboxError(
    "SANDBOX_UNENFORCEABLE",
    `The policy sets ${loose.join(", ")}, and on the host itself nothing enforces that: only limits.wall, limits.output and env hold there. The docker and bubblewrap sandboxes enforce a policy.`,
  )
}
