import { release } from "node:os"
import { allowListOf, checkMounts } from "../../policy/index.ts"
import { agentCommand } from "../sandbox/agent-command.ts"
import { AGENT_LEASE_MS } from "../sandbox/agent-lease.ts"
import { TUNNEL_PORT } from "../sandbox/tunnel.ts"
import { WORKSPACE } from "../sandbox/workspace-folder.ts"
import type { BubblewrapOptions } from "./bubblewrap-options.ts"
import { checkTargets } from "./check-targets.ts"
import { LIBRARY, checkFunctions, functionFiles } from "./function-files.ts"
import { type LimitPlan, planLimits } from "./limit-plan.ts"
import { type Machine, surveyMachine } from "./machine.ts"
import { type OwnFile, settingFiles } from "./own-files.ts"
import { sandboxFilters } from "./sandbox-filters.ts"
import { type TreeEntry, systemTree } from "./system-tree.ts"

/** What all sandboxes of an executor have in common. */
export interface LaunchPreparation {
  readonly options: BubblewrapOptions
  readonly machine: Machine
  readonly plan: LimitPlan
  readonly filters: readonly Buffer[]
  readonly tree: readonly TreeEntry[]
  readonly files: readonly OwnFile[]
  readonly env: Readonly<Record<string, string>>
  /** The sandbox's first process. */
  readonly agent: readonly string[]
}

/** Finds what is needed, and refuses what cannot be enforced here. */
export async function prepareLaunch(options: BubblewrapOptions): Promise<LaunchPreparation> {
  const { policy, root } = options
  const { fields } = policy
  checkFunctions(options)
  await checkMounts(policy)
  const machine = await surveyMachine({
    ...options,
    user: fields.user,
    sources: [...fields.mounts.map(({ source }) => source), ...(root === undefined ? [] : [root])],
  })
  const hasTunnel = allowListOf(fields.network) !== undefined
  const plan = planLimits(fields, machine.means)
  const tree = await systemTree(root)
  await checkTargets(fields, tree)
  return {
    options,
    machine,
    plan,
    filters: sandboxFilters(fields, plan, process.arch, release()),
    tree,
    files: [...(root === undefined ? settingFiles(fields) : []), ...functionFiles(options)],
    env: options.functions.length === 0 ? {} : { PYTHONPATH: LIBRARY },
    agent: await agentCommand({
      kind: "python",
      programs: options.languages.programs(),
      keepsReady: keepsReady(options),
      leaseMs: AGENT_LEASE_MS,
      isSuspicious: fields.mounts.some(({ target }) => isInWorkspace(target)),
      tunnelPort: hasTunnel ? TUNNEL_PORT : undefined,
    }),
  }
}

// For a sandbox that gets its one call at once there is nothing to be gained by readiness.
function keepsReady({ interpreter, isolation, pool }: BubblewrapOptions): boolean {
  return interpreter === "ready" && (isolation === "session" || pool.size > 0)
}

function isInWorkspace(target: string): boolean {
  return target === WORKSPACE || target.startsWith(`${WORKSPACE}/`)
}
