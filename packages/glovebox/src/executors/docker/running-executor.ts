import { GloveboxError } from "../../core/index.ts"
import { abortable } from "../../internal/abortable.ts"
import type { CodeResult, SandboxReport } from "../code-result.ts"
import type { ExecutionEvent } from "../execution-event.ts"
import type { Workspace } from "../workspace.ts"
import { type CallEnd, artifactsOf, codeResult, runCall } from "./call.ts"
import { ContainerLauncher } from "./container-launcher.ts"
import { ContainerPool } from "./container-pool.ts"
import type { DockerOptions } from "./docker-options.ts"
import type { DockerExecutorEvent } from "./executor-event.ts"
import type { SandboxContainer } from "./launch-container.ts"
import type { PlannedBlock } from "./plan-blocks.ts"
import { RunSource } from "./run-source.ts"
import type { SandboxAgent } from "./sandbox-agent.ts"
import type { LeasedSandbox, SandboxSource } from "./sandbox-source.ts"
import { SessionSource } from "./session-source.ts"
import { sweepOrphans } from "./sweep-orphans.ts"

export interface RunningExecutorOptions {
  readonly options: DockerOptions
  readonly owner: string
  readonly workspace: Workspace | undefined
  readonly emit: (event: DockerExecutorEvent) => void
  readonly signal: AbortSignal
}

export interface ExecuteCall {
  readonly blocks: readonly PlannedBlock[]
  readonly signal: AbortSignal
  readonly onEvent: (event: ExecutionEvent) => void
  /** Filled in with the means to hold the output back. */
  readonly flow?: { pause: () => void; resume: () => void } | undefined
}

const SETTLE_MS = 1_000

/** What an executor is between `start()` and `stop()`. */
export class RunningExecutor {
  readonly #setup: RunningExecutorOptions
  readonly #launcher: ContainerLauncher
  readonly #source: SandboxSource
  readonly #sweep: Promise<void>

  private constructor(setup: RunningExecutorOptions, launcher: ContainerLauncher, source: SandboxSource) {
    this.#setup = setup
    this.#launcher = launcher
    this.#source = source
    this.#sweep = this.#sweepOrphans()
  }

  static async start(setup: RunningExecutorOptions): Promise<RunningExecutor> {
    const { options, workspace } = setup
    const launcher = await ContainerLauncher.prepare(setup, setup.signal)
    const isSession = options.isolation === "session"
    const pool = new ContainerPool({
      size: isSession ? Math.min(1, options.pool.size) : options.pool.size,
      // The one container of a session is not to have a second beside it.
      refills: !isSession,
      idleLeaseMs: options.pool.idleLease,
      launch: async (signal) => launcher.launch(signal),
    })
    const source = isSession
      ? new SessionSource(pool, options.workDir === undefined ? undefined : workspace, options.stopContainer)
      : new RunSource(pool, workspace)
    const running = new RunningExecutor(setup, launcher, source)
    try {
      await abortable(pool.fill(), setup.signal)
      return running
    } catch (error) {
      await running.close()
      throw error
    }
  }

  async execute(call: ExecuteCall): Promise<CodeResult> {
    const startedAt = performance.now()
    const leased = await this.#source.acquire(call.signal)
    const { agent } = leased.container
    let isAlive = false
    agent.ref(true)
    try {
      this.#checkPrograms(leased.container, call.blocks)
      if (call.flow) {
        call.flow.pause = () => agent.pause()
        call.flow.resume = () => agent.resume()
      }
      call.onEvent({ type: "started", blocks: call.blocks.length })
      const end = await this.#run(leased.container, call)
      isAlive = end.isAlive
      return await this.#finish(end, leased, call, startedAt)
    } catch (error) {
      // A session goes on when the agent has ended the block in time.
      if (this.#setup.options.isolation === "session") isAlive = await this.#settles(agent)
      throw error
    } finally {
      agent.ref(false)
      this.#source.release(leased, isAlive)
    }
  }

  async close(): Promise<void> {
    await this.#source.close()
    await this.#sweep
    this.#launcher.close()
  }

  async #run(container: SandboxContainer, call: ExecuteCall): Promise<CallEnd> {
    const { options } = this.#setup
    const { files, gone, confirm } = await this.#source.gap()
    return runCall({
      agent: container.agent,
      limits: options.policy.fields.limits,
      blocks: call.blocks,
      prefersReady: options.interpreter === "ready",
      files,
      gone,
      onPut: confirm,
      carry: options.carry,
      deletesCodeFiles: options.deleteTmpFiles,
      ranOutOfMemory: async () => this.#launcher.ranOutOfMemory(container.id),
      onEvent: call.onEvent,
      signal: call.signal,
    })
  }

  async #finish(
    end: CallEnd,
    { container, pooled }: LeasedSandbox,
    call: ExecuteCall,
    startedAt: number,
  ): Promise<CodeResult> {
    const isKept = await this.#source.keep(end.changes)
    const artifacts = artifactsOf(end.changes, call.blocks)
    for (const artifact of artifacts) call.onEvent({ type: "artifact", artifact })
    const result = codeResult(
      end.blocks,
      artifacts,
      end.changes.over || !isKept,
      this.#report(container, pooled),
      performance.now() - startedAt,
    )
    call.onEvent({ type: "finished", result })
    return result
  }

  // Whether the agent is free for another call soon; files that came after all are kept.
  async #settles(agent: SandboxAgent): Promise<boolean> {
    const late = AbortSignal.timeout(SETTLE_MS)
    try {
      await abortable(agent.whenIdle(), late)
      const changes = await abortable(agent.undelivered(), late)
      if (changes) await this.#source.keep(changes)
    } catch {
      return false
    }
    return !agent.lost.aborted
  }

  #report({ id, effective }: SandboxContainer, pooled: boolean): SandboxReport {
    const { policy, isolation } = this.#setup.options
    return {
      kind: "docker",
      policySha256: policy.sha256,
      isolation,
      image: policy.fields.image,
      imageDigest: effective.image,
      runtime: effective.runtime,
      containerId: id,
      pooled,
      effective: effective.settings,
    }
  }

  #checkPrograms({ agent }: SandboxContainer, blocks: readonly PlannedBlock[]): void {
    for (const { language, argv } of blocks) {
      const program = argv[0] ?? ""
      if (agent.programs[program]) continue
      throw new GloveboxError(
        "LANGUAGE_UNAVAILABLE",
        `The image ${this.#launcher.imageName} has no ${program}, which runs ${language.name}: install ${language.install} in the image, or name an image that has it.`,
      )
    }
  }

  async #sweepOrphans(): Promise<void> {
    try {
      for (const { id, reason } of await sweepOrphans(this.#launcher.engine)) {
        this.#setup.emit({ type: "orphan-removed", containerId: id, reason })
      }
    } catch {
      // Others' leftovers must not keep this executor from its work.
    }
  }
}
