import type { PolicyFields } from "../../policy/index.ts"
import type { Facts } from "../sandbox/agent-answers.ts"
import { capabilitiesIn } from "./capabilities.ts"
import { isGvisor } from "./choose-runtime.ts"
import { wholePages } from "../sandbox/whole-pages.ts"
import { WORKSPACE } from "../sandbox/workspace-folder.ts"
import { type ContainerSpec, hasInterface } from "./container-spec.ts"

/** A setting that is not what was asked for. */
export interface SettingDifference {
  readonly setting: string
  readonly asked: unknown
  readonly effective: unknown
}

/** Where the kernel's own words differ from the policy. What cannot be read from inside is left to the engine's word. */
export function kernelDifferences(
  policy: PolicyFields,
  spec: ContainerSpec,
  facts: Facts,
  runtime: string,
  isPodman = false,
): SettingDifference[] {
  const { limits } = policy
  const { status, cgroup, workspace, interfaces, root } = facts
  const differences: SettingDifference[] = []
  const check = (setting: string, effective: unknown, asked: unknown): void => {
    if (JSON.stringify(effective) !== JSON.stringify(asked)) differences.push({ setting, effective, asked })
  }
  const checkIfRead = (setting: string, effective: unknown, asked: unknown): void => {
    if (effective !== undefined && effective !== null) check(setting, effective, asked)
  }
  check("user", `${facts.uid}:${facts.gid}`, policy.user)
  if (!hasInterface(policy)) {
    checkIfRead(
      "network interfaces",
      interfaces?.filter((name) => name !== "lo"),
      [],
    )
  }
  if (policy.readOnlyRoot) checkIfRead("the root's read-only flag", root.readOnly, true)
  if (Object.hasOwn(spec.HostConfig.Tmpfs, WORKSPACE)) {
    check("workspace within its bytes", isWithin(workspace.bytes, limits.workspace), true)
    if (countsFiles(runtime, isPodman)) {
      check("workspace within its files", isWithin(workspace.files, limits.files), true)
    }
  }
  // A runtime with a kernel of its own keeps these outside, where nothing in it can see them.
  if (isGvisor(runtime)) return differences
  checkIfRead("NoNewPrivs", status["NoNewPrivs"], "1")
  if (policy.seccomp === "strict" || "profile" in policy.seccomp) {
    checkIfRead("Seccomp", status["Seccomp"], "2")
  }
  const bounds = policy.capabilities.map(withoutPrefix).toSorted()
  checkIfRead("capability bounds", capabilitiesIn(status["CapBnd"]), bounds)
  checkIfRead("memory limit of the cgroup", cgroup.memory, wholePages(limits.memory))
  checkIfRead("process limit of the cgroup", cgroup.pids, limits.pids)
  return differences
}

/** Limits that this engine or runtime keeps only by others, in words. */
export function indirectLimits(runtime: string, isPodman: boolean): string[] {
  if (countsFiles(runtime, isPodman)) return []
  return ["limits.files: the workspace's files are not counted here, and are bounded by limits.memory alone"]
}

function countsFiles(runtime: string, isPodman: boolean): boolean {
  return !isGvisor(runtime) && !isPodman
}

// A page more is how the kernel rounds.
function isWithin(found: number | null, limit: number): boolean {
  return found !== null && found > 0 && found <= limit + 4096
}

/** Docker takes both spellings. */
export function withoutPrefix(capability: string): string {
  return capability.replace(/^CAP_/, "")
}
