import { TIER_NOTES } from "../executors/factory/tier-notes.ts"
import { type SandboxPolicy, type Tier, allowListOf, formatBytes, formatDuration } from "../policy/index.ts"
import type { SandboxServerOptions } from "../tools/mcp-server/index.ts"

type Description = Pick<SandboxServerOptions, "about" | "languages" | "hasShell" | "lasting" | "hasNetwork">

const ANY_LANGUAGE = ["python", "bash", "javascript", "typescript"] as const

/** What a client is told of the sandbox: what it can run, what stays, and what it must not expect. */
export function describeSandbox(
  sandbox: Tier,
  policy: SandboxPolicy,
  isolation: "run" | "session",
): Description {
  const { limits } = policy.fields
  const about = [
    `Code runs in a sandbox: ${TIER_NOTES[sandbox].what}.`,
    `A call may take ${formatDuration(limits.wall)} and ${formatBytes(limits.memory)} of memory.`,
    networkOf(policy),
    "Work in the working directory, by relative paths. These bounds cannot be changed from here.",
  ].join(" ")
  return {
    about,
    languages: languagesOf(sandbox),
    hasShell: sandbox !== "wasm",
    lasting: lastingOf(sandbox, isolation),
    hasNetwork: hasNetwork(policy),
  }
}

function languagesOf(sandbox: Tier): Description["languages"] {
  if (sandbox === "jupyter") return ["python"]
  return sandbox === "wasm" ? ["python", "javascript", "typescript"] : [...ANY_LANGUAGE]
}

function lastingOf(sandbox: Tier, isolation: "run" | "session"): string {
  if (sandbox === "jupyter") return "Variables and files stay for later calls."
  if (isolation === "run")
    return "Files in the working directory stay for later calls; variables and processes do not."
  return sandbox === "wasm"
    ? "Variables and files stay for later calls."
    : "Files stay for later calls, those that were installed too; variables do not."
}

function hasNetwork({ fields: { network } }: SandboxPolicy): boolean {
  return network !== "none" && allowListOf(network)?.allow.length !== 0
}

function networkOf(policy: SandboxPolicy): string {
  if (!hasNetwork(policy)) return "There is no network."
  const list = allowListOf(policy.fields.network)
  if (!list) return "The network is open: nothing bounds what code reaches."
  const hosts = list.allow.map((rule) => (typeof rule === "string" ? rule : rule.to)).join(", ")
  return `The network reaches ${hosts}, and nothing else.`
}
