import { GloveboxError } from "../../core/index.ts"
import type { PolicyFields } from "../../policy/index.ts"
import type { EngineInfo } from "./engine-info.ts"

export interface ChosenRuntime {
  /** Undefined for the engine's own choice. */
  readonly name: string | undefined
  readonly isolation: "container" | "userspace-kernel"
  /** Why this one, when the policy left it open. */
  readonly because?: string | undefined
}

const STRENGTH = ["wasm", "container", "userspace-kernel", "vm"] as const

/** The runtime of the policy: gVisor where it is there and the limits hold under it, or the one that is named. */
export function chooseRuntime(policy: PolicyFields, info: EngineInfo): ChosenRuntime {
  const chosen = policy.runtime === "auto" ? automatic(info) : named(policy.runtime, info)
  const required = policy.isolation
  if (required !== undefined && STRENGTH.indexOf(chosen.isolation) < STRENGTH.indexOf(required)) {
    throw new GloveboxError(
      "SANDBOX_UNENFORCEABLE",
      `The policy requires the isolation "${required}", and the runtime ${chosen.name ?? "of the engine"} gives "${chosen.isolation}"${chosen.because ? ` (${chosen.because})` : ""}. Add gVisor's runsc to the engine for "userspace-kernel", or relax the policy.`,
    )
  }
  return chosen
}

function automatic(info: EngineInfo): ChosenRuntime {
  if (info.isPodman) {
    return { name: undefined, isolation: "container", because: "Podman does not say which runtimes it has" }
  }
  const gvisor = Object.keys(info.runtimes).find(isGvisor)
  const fallback = info.defaultRuntime || "runc"
  if (gvisor === undefined) {
    return { name: fallback, isolation: "container", because: "the engine has no gVisor" }
  }
  if (ignoresLimits(info, gvisor)) {
    return {
      name: fallback,
      isolation: "container",
      because: `the engine's ${gvisor} is set to ignore cgroups, so no limit would hold under it`,
    }
  }
  return { name: gvisor, isolation: "userspace-kernel", because: "the engine has gVisor" }
}

function named(name: string, info: EngineInfo): ChosenRuntime {
  // Podman lists only what it uses by default, and says so itself when it has no other.
  if (!Object.hasOwn(info.runtimes, name) && !info.isPodman) {
    throw new GloveboxError(
      "SANDBOX_UNENFORCEABLE",
      `The engine has no runtime ${name}; it has ${Object.keys(info.runtimes).join(", ")}.`,
    )
  }
  if (isGvisor(name) && ignoresLimits(info, name)) {
    throw new GloveboxError(
      "SANDBOX_UNENFORCEABLE",
      `The engine's ${name} is set to ignore cgroups, so the policy's memory and process limits would not hold under it. Register it without --ignore-cgroups.`,
    )
  }
  return { name, isolation: isGvisor(name) ? "userspace-kernel" : "container" }
}

export function isGvisor(runtime: string): boolean {
  return /^(io\.containerd\.)?runsc/.test(runtime)
}

function ignoresLimits({ runtimes }: EngineInfo, name: string): boolean {
  return runtimes[name]?.args.some((arg) => /^--?ignore-cgroups(=true)?$/.test(arg)) ?? false
}
