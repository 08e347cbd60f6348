import { release } from "node:os"
import { GloveboxError } from "../../core/index.ts"
import { allowListOf } from "../../policy/index.ts"
import type { SandboxProbeFacts } from "../../probes/index.ts"
import { Guard } from "../sandbox/guard.ts"
import { runInitCommand } from "../sandbox/init-command.ts"
import type { Language } from "../languages.ts"
import { type EgressControl, egressVariables } from "../sandbox/sandbox-egress.ts"
import { trustAuthority } from "../sandbox/trust-authority.ts"
import type { SandboxLauncher } from "../sandbox/sandbox-launcher.ts"
import type { Sandbox } from "../sandbox/sandbox.ts"
import { TUNNEL_PORT } from "../sandbox/tunnel.ts"
import type { BubblewrapOptions } from "./bubblewrap-options.ts"
import { systemFailure } from "./explain-failure.ts"
import { type LaunchedSandbox, launchSandbox } from "./launch-sandbox.ts"
import { type LaunchPreparation, prepareLaunch } from "./prepare-launch.ts"
import { sweepCgroups } from "./sandbox-cgroup.ts"

/** Makes sandboxes of one policy with bubblewrap. */
export class BubblewrapLauncher implements SandboxLauncher {
  readonly kind = "bubblewrap"
  readonly #preparation: LaunchPreparation
  readonly #egress: EgressControl
  readonly #guard: Guard
  readonly #launched = new WeakMap<Sandbox, LaunchedSandbox>()
  // Executors begin at different processors.
  #launches = Math.floor(Math.random() * 1024)

  private constructor(preparation: LaunchPreparation, egress: EgressControl) {
    this.#preparation = preparation
    this.#egress = egress
    this.#guard = guardOf(preparation)
  }

  /** Finds what is needed, and clears away what processes left that are gone. */
  static async prepare(options: BubblewrapOptions, egress: EgressControl): Promise<BubblewrapLauncher> {
    const preparation = await prepareLaunch(options).catch((error: unknown) => {
      throw systemFailure(error)
    })
    await sweepCgroups(preparation.machine.cgroup)
    return new BubblewrapLauncher(preparation, egress)
  }

  async launch(signal?: AbortSignal): Promise<Sandbox> {
    signal?.throwIfAborted()
    this.#launches += 1
    const egress = this.#egress.open()
    const { options } = this.#preparation
    const turn = this.#launches
    const sandbox = await launchSandbox(this.#preparation, { turn, guard: this.#guard, egress, signal })
    this.#launched.set(sandbox, sandbox)
    try {
      await trustAuthority(sandbox.agent, options, egress?.certificate, signal)
      await runInitCommand(sandbox.agent, options, signal)
    } catch (error) {
      await sandbox.destroy().catch(() => {})
      throw error
    }
    return sandbox
  }

  async ranOutOfMemory(sandbox: Sandbox): Promise<boolean> {
    return (await this.#launched.get(sandbox)?.cgroup?.ranOutOfMemory()) ?? false
  }

  probeFacts(): SandboxProbeFacts {
    const { fields } = this.#preparation.options.policy
    const hasTunnel = allowListOf(fields.network) !== undefined
    return {
      hasOwnKernel: false,
      knownEnv: ["LANG", "PYTHONPATH", ...egressVariables(fields)],
      imageVolumes: [],
      proxyPort: hasTunnel ? TUNNEL_PORT : undefined,
      isLocal: true,
      hostKernel: release(),
    }
  }

  missingProgram(program: string, { name, install }: Language): GloveboxError {
    const { root } = this.#preparation.options
    const where = root === undefined ? "This machine's /usr" : `The tree ${root}`
    return new GloveboxError(
      "LANGUAGE_UNAVAILABLE",
      `${where} has no ${program}, which runs ${name}: install ${install} there, or name a tree that has it (root).`,
    )
  }

  async close(): Promise<void> {
    // Every sandbox is destroyed by who took it.
    await this.#guard.close()
  }
}

/** Watches sandboxes of this preparation. */
export function guardOf({ machine }: LaunchPreparation): Guard {
  return new Guard({ cgroups: [...new Set(machine.cgroup.folders.values())] })
}
