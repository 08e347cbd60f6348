import { atMost } from "../../../internal/at-most.ts"
import type { PoolState } from "../../pool-state.ts"
import { takeFrom } from "../../sandbox/run-source.ts"
import type { EgressControl } from "../../sandbox/sandbox-egress.ts"
import type { SandboxLauncher } from "../../sandbox/sandbox-launcher.ts"
import { SandboxPool } from "../../sandbox/sandbox-pool.ts"
import type { Sandbox } from "../../sandbox/sandbox.ts"
import { ContainerLauncher } from "../container-launcher.ts"
import type { DockerOptions } from "../docker-options.ts"
import { newOwner } from "../ownership.ts"
import { cpuSecondsOf } from "./container-cpu.ts"
import { removeOwned } from "./remove-owned.ts"
import { distinctName } from "./tenant-name.ts"

/** Whose a container of a fleet is, as the tenant's name was given. */
const TENANT_LABEL = "org.glovebox.tenant"
const CLOSE_LIMIT_MS = 5_000

export interface SandboxGroupOptions {
  readonly tenant: string
  /** The name of the engine in the fleet. */
  readonly engine: string
  /** With the engine's address among them. */
  readonly docker: DockerOptions
  readonly egress: EgressControl
  /** Called with the owner's label of containers that could not be removed, because the engine is away. */
  readonly onLeft: (owner: string) => void
  readonly onClosed: (group: SandboxGroup) => void
}

/** What the runs in one container used. */
export interface Metering {
  /** Whether to read the CPU time at all. */
  readonly isMetered: boolean
  readonly charge: (cpuSeconds: number) => void
}

/** A launcher for the calls of one executor, whose sandboxes come out of the group's pool. */
export interface GroupLauncher extends SandboxLauncher {
  /** Whether code has begun in its sandbox: what it uses is charged from then on. */
  isUsed: boolean
  /** Whether it has a sandbox that is not lost. */
  readonly isAlive: boolean
  /** Charges what was used since the last time. */
  settle(): Promise<void>
}

/** The containers of one tenant, of one kind, on one engine. */
export class SandboxGroup {
  readonly #options: SandboxGroupOptions
  readonly #owner: string
  readonly #launcher: ContainerLauncher
  readonly #pool: SandboxPool
  #users = 0
  #isRetired = false
  #closing: Promise<void> | undefined

  private constructor(options: SandboxGroupOptions, owner: string, launcher: ContainerLauncher) {
    this.#options = options
    this.#owner = owner
    this.#launcher = launcher
    const { size, idleLease } = options.docker.pool
    this.#pool = new SandboxPool({
      size,
      idleLeaseMs: idleLease,
      launch: async (signal) => launcher.launch(signal),
    })
  }

  static async open(options: SandboxGroupOptions, signal: AbortSignal): Promise<SandboxGroup> {
    const { tenant, docker, egress } = options
    const owner = newOwner()
    // The owner is random: no two groups have a name in common, whatever their tenants are called.
    const name = `glovebox-${distinctName(tenant)}-${owner.slice(0, 13)}`
    const launcher = await ContainerLauncher.prepare(
      {
        options: docker,
        owner,
        name,
        emit: () => {},
        egress,
        labels: { [TENANT_LABEL]: tenant },
        scope: tenant,
      },
      signal,
    )
    return new SandboxGroup(options, owner, launcher)
  }

  get state(): PoolState {
    return this.#pool.state
  }

  get isRetired(): boolean {
    return this.#isRetired
  }

  /** A launcher that counts as a use until it is closed. */
  lend(metering: Metering): GroupLauncher {
    this.#users += 1
    let isBack = false
    const giveBack = (): void => {
      if (isBack) return
      isBack = true
      this.#users -= 1
      if (this.#isRetired && this.#users === 0) void this.close()
    }
    return new LentLauncher(this.#launcher, this.#pool, this.#options, metering, giveBack)
  }

  /** Takes no more work, and ends with the last call that uses it. */
  retire(): void {
    this.#isRetired = true
    if (this.#users === 0) void this.close()
  }

  /** Ends all its containers; it waits for an engine that does not answer only so long. */
  close(): Promise<void> {
    this.#isRetired = true
    return (this.#closing ??= this.#close())
  }

  async #close(): Promise<void> {
    let isEmpty = false
    const { engine } = this.#launcher
    const closing = (async () => {
      await this.#pool.close()
      await removeOwned(engine, this.#owner)
      isEmpty = true
      await this.#launcher.close()
    })()
    await atMost(closing, CLOSE_LIMIT_MS)
    closing.catch(() => {})
    if (!isEmpty) this.#options.onLeft(this.#owner)
    // Whatever still waits for an answer gets none.
    engine.close()
    this.#options.onClosed(this)
  }
}

class LentLauncher implements GroupLauncher {
  readonly kind = "docker"
  isUsed = false
  readonly #launcher: ContainerLauncher
  readonly #pool: SandboxPool
  readonly #options: SandboxGroupOptions
  readonly #metering: Metering
  readonly #giveBack: () => void
  #current: Sandbox | undefined
  #settled = { cpuSeconds: 0, at: 0 }

  constructor(
    launcher: ContainerLauncher,
    pool: SandboxPool,
    options: SandboxGroupOptions,
    metering: Metering,
    giveBack: () => void,
  ) {
    this.#launcher = launcher
    this.#pool = pool
    this.#options = options
    this.#metering = metering
    this.#giveBack = giveBack
  }

  get isAlive(): boolean {
    return this.#current !== undefined && !this.#current.agent.lost.aborted
  }

  async launch(signal?: AbortSignal): Promise<Sandbox> {
    const { sandbox, pooled } = await takeFrom(this.#pool, signal ?? new AbortController().signal)
    this.#current = sandbox
    this.#settled = { cpuSeconds: 0, at: performance.now() }
    let ending: Promise<void> | undefined
    const destroy = async (): Promise<void> => (ending ??= this.#end(sandbox))
    const facts = { ...sandbox.facts, engine: this.#options.engine, pooled }
    return { ...sandbox, facts, destroy, [Symbol.asyncDispose]: destroy }
  }

  async settle(sandbox: Sandbox | undefined = this.#current): Promise<void> {
    if (!sandbox || !this.isUsed || !this.#metering.isMetered) return
    const before = this.#settled
    const now = performance.now()
    // What cannot be read is charged as if it had used all it could.
    const most = ((now - before.at) / 1000) * this.#options.docker.policy.fields.limits.cpus
    const read = await cpuSecondsOf(this.#launcher.engine, sandbox.id)
    const used = read === undefined ? most : read - before.cpuSeconds
    this.#settled = { cpuSeconds: read ?? before.cpuSeconds, at: now }
    this.#metering.charge(used)
  }

  async ranOutOfMemory(sandbox: Sandbox): Promise<boolean> {
    return this.#launcher.ranOutOfMemory(sandbox)
  }

  probeFacts(): ReturnType<ContainerLauncher["probeFacts"]> {
    return this.#launcher.probeFacts()
  }

  missingProgram(
    ...args: Parameters<ContainerLauncher["missingProgram"]>
  ): ReturnType<ContainerLauncher["missingProgram"]> {
    return this.#launcher.missingProgram(...args)
  }

  // The sandbox is the group's to end; the launcher only stops using it.
  async close(): Promise<void> {
    this.#giveBack()
  }

  async #end(sandbox: Sandbox): Promise<void> {
    if (this.#current === sandbox) this.#current = undefined
    await this.settle(sandbox)
    await this.#pool.release(sandbox)
  }
}
