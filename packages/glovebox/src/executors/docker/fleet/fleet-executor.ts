import { randomUUID } from "node:crypto"
import { type PolicyChange, allowListOf } from "../../../policy/index.ts"
import type { PoolState } from "../../pool-state.ts"
import { PolicyExecutor } from "../../sandbox/policy-executor.ts"
import type { RunningExecutor } from "../../sandbox/running-executor.ts"
import { deviceWidenings } from "../device-widenings.ts"
import type { DockerOptions } from "../docker-options.ts"
import type { FleetCore } from "./fleet-core.ts"
import { FleetRunner } from "./fleet-runner.ts"
import type { TenantLoad } from "./tenant-load.ts"

/** Runs code blocks for one tenant in containers on the engines of a fleet. `DockerFleet.executor()` makes it. */
export class FleetExecutor extends PolicyExecutor {
  readonly tenant: string
  readonly #core: FleetCore
  readonly #load: TenantLoad
  readonly #options: DockerOptions
  readonly #isOwn: boolean
  readonly #key: string

  constructor(core: FleetCore, load: TenantLoad, options: DockerOptions) {
    super("docker", options)
    this.tenant = load.name
    this.#core = core
    this.#load = load
    this.#options = options
    // With a policy or a way out of its own it cannot share containers that wait, not even within its tenant.
    const isAsTenant = options.policy.sha256 === load.tenant.docker.policy.sha256
    this.#isOwn = !isAsTenant || allowListOf(options.policy.fields.network) !== undefined
    this.#key = JSON.stringify([load.name, options.isolation, this.#isOwn ? randomUUID() : "shared"])
  }

  override get beyondPolicy(): readonly PolicyChange[] {
    return deviceWidenings(this.#options)
  }

  /** Of the containers that it uses, on all engines; those of its tenant unless it has its own. */
  override get pool(): PoolState | undefined {
    const groups = this.#core.hosts.flatMap((host) => host.groups.get(this.#key) ?? [])
    if (groups.length === 0) return undefined
    return groups
      .map(({ state }) => state)
      .reduce((a, b) => ({ ready: a.ready + b.ready, busy: a.busy + b.busy, size: a.size + b.size }))
  }

  protected override async open(signal: AbortSignal): Promise<RunningExecutor> {
    this.egress.prepare()
    this.#core.start()
    await this.#core.ready(this.#load, signal)
    const { isolation, pool, carry, workDir, deleteTmpFiles, interpreter, verify } = this.#options
    return new FleetRunner({
      core: this.#core,
      load: this.#load,
      key: this.#key,
      isOwn: this.#isOwn,
      kind: { tenant: this.tenant, docker: this.#options, egress: this.egress },
      runner: {
        policy: () => this.policy,
        isolation,
        pool,
        workspace: this.workspace,
        isFolder: workDir !== undefined,
        carry,
        deletesCodeFiles: deleteTmpFiles,
        prefersReady: interpreter === "ready",
        claims: verify === "claim",
      },
    })
  }
}
