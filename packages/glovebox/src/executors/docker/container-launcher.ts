import { GloveboxError } from "../../core/index.ts"
import { SandboxPolicy, allowListOf, checkMounts } from "../../policy/index.ts"
import type { SandboxProbeFacts } from "../../probes/index.ts"
import type { Language } from "../languages.ts"
import { type AgentKind, agentCommand } from "../sandbox/agent-command.ts"
import { AGENT_LEASE_MS } from "../sandbox/agent-lease.ts"
import { FramedAgent } from "../sandbox/framed-agent.ts"
import { type EgressControl, egressVariables } from "../sandbox/sandbox-egress.ts"
import { trustAuthority } from "../sandbox/trust-authority.ts"
import { TUNNEL_PORT } from "../sandbox/tunnel.ts"
import type { SandboxLauncher } from "../sandbox/sandbox-launcher.ts"
import type { Sandbox } from "../sandbox/sandbox.ts"
import { WORKSPACE } from "../sandbox/workspace-folder.ts"
import { type ChosenRuntime, chooseRuntime } from "./choose-runtime.ts"
import { compiledAgents } from "./compiled-agents.ts"
import { type ContainerSpec, containerSpec } from "./container-spec.ts"
import type { DockerOptions } from "./docker-options.ts"
import { findEngine } from "./engine-address.ts"
import type { EngineInfo } from "./engine-info.ts"
import { Engine, type EngineImage } from "./engine.ts"
import type { DockerExecutorEvent } from "./executor-event.ts"
import { findImage } from "./find-image.ts"
import { AgentProgramMissing, type SandboxContainer, launchContainer } from "./launch-container.ts"
import { NAME_LABEL, ownerLabels } from "./ownership.ts"
import { OomWatch } from "./oom-watch.ts"
import { runInitCommand } from "../sandbox/init-command.ts"
import { LIBRARY, WHEELS, prepareImage } from "./prepared-image.ts"
import { sweepOrphans } from "./sweep-orphans.ts"

export interface LauncherOptions {
  readonly options: DockerOptions
  readonly owner: string
  readonly emit: (event: DockerExecutorEvent) => void
  /** What its containers may reach. */
  readonly egress: EgressControl
  /** For those who test what each setting is for: changes it, and leaves out the check that it stands. */
  readonly alter?: ((spec: ContainerSpec) => ContainerSpec) | undefined
  /** Another agent than the plain one, which needs Python too. */
  readonly agent?: AgentProgram | undefined
  /** What the names of its containers begin with, unless the options name one. @default made of the owner */
  readonly name?: string | undefined
  /** Further labels for what it makes. */
  readonly labels?: Readonly<Record<string, string>> | undefined
  /** Prepared images are shared within it alone. @default with everybody */
  readonly scope?: string | undefined
}

interface AgentProgram {
  readonly command: typeof agentCommand
  /** The error for an image without Python. */
  readonly missing: (cause: Error) => GloveboxError
}

/** Makes containers of one policy on one engine. */
export class ContainerLauncher implements SandboxLauncher {
  readonly kind = "docker"
  readonly engine: Engine
  readonly #launcher: LauncherOptions
  readonly #info: EngineInfo
  #image: EngineImage
  readonly #runtime: ChosenRuntime
  #kind: AgentKind = "python"
  #count = 0
  #sweep = Promise.resolve()
  readonly #oomWatch = new OomWatch()

  private constructor(
    launcher: LauncherOptions,
    engine: Engine,
    info: EngineInfo,
    image: EngineImage,
    runtime: ChosenRuntime,
  ) {
    this.#launcher = launcher
    this.engine = engine
    this.#info = info
    this.#image = image
    this.#runtime = runtime
  }

  /** Finds the engine, the runtime and the image, and refuses what cannot be enforced there. */
  static async prepare(launcher: LauncherOptions, signal?: AbortSignal): Promise<ContainerLauncher> {
    const { options, emit } = launcher
    const { fields } = options.policy
    const engine = new Engine(await findEngine(options))
    try {
      await checkMounts(options.policy, { isRemote: !engine.isLocal })
      const info = await engine.info(signal)
      const runtime = chooseRuntime(fields, info)
      emit({ type: "runtime-chosen", runtime: runtime.name ?? "the engine's own", because: runtime.because })
      const onProgress = (progress: Extract<DockerExecutorEvent, { type: "pull" }>["progress"]): void =>
        emit({ type: "pull", progress })
      const image = await findImage(engine, fields.image, options.pull, onProgress, signal)
      const containers = new ContainerLauncher(launcher, engine, info, image, runtime)
      await containers.#prepareImage(image, signal)
      // An engine without events still runs code.
      void containers.#oomWatch.listen(engine, launcher.owner).catch(() => {})
      containers.#sweep = containers.#sweepOrphans()
      return containers
    } catch (error) {
      engine.close()
      throw error
    }
  }

  async ranOutOfMemory({ id }: Sandbox): Promise<boolean> {
    return this.#oomWatch.hasSeen(id)
  }

  probeFacts(): SandboxProbeFacts {
    const { options } = this.#launcher
    const hasTunnel = allowListOf(options.policy.fields.network) !== undefined
    return {
      hasOwnKernel: this.#runtime.isolation === "userspace-kernel",
      knownEnv: [
        ...this.#image.variables,
        ...(options.functions.length === 0 ? [] : ["PYTHONPATH"]),
        ...egressVariables(options.policy.fields),
      ],
      imageVolumes: this.#image.volumes,
      proxyPort: hasTunnel ? TUNNEL_PORT : undefined,
      isLocal: this.engine.isLocal,
      hostKernel: this.#info.kernel || undefined,
    }
  }

  missingProgram(program: string, language: Language): GloveboxError {
    return new GloveboxError(
      "LANGUAGE_UNAVAILABLE",
      `The image ${this.imageName} has no ${program}, which runs ${language.name}: install ${language.install} in the image, or name an image that has it.`,
    )
  }

  async close(): Promise<void> {
    await this.#sweep
    this.#oomWatch.close()
    this.engine.close()
  }

  get imageName(): string {
    return this.#launcher.options.policy.fields.image
  }

  /** Makes a container; gives up, and removes it, when the signal aborts. */
  async launch(signal?: AbortSignal): Promise<SandboxContainer> {
    const container = await this.#launchAgent(this.#launcher.options.policy, signal)
    const { emit, options } = this.#launcher
    emit({
      type: "container-started",
      containerId: container.id,
      imageDigest: container.effective.image,
      runtime: container.effective.runtime,
      policySha256: options.policy.sha256,
    })
    const destroy = once(async () => {
      await container.destroy()
      emit({ type: "container-removed", containerId: container.id })
    })
    try {
      await runInitCommand(container.agent, options, signal)
    } catch (error) {
      await destroy().catch(() => {})
      throw error
    }
    return { ...container, destroy, [Symbol.asyncDispose]: destroy }
  }

  async #sweepOrphans(): Promise<void> {
    try {
      for (const { id, reason } of await sweepOrphans(this.engine)) {
        this.#launcher.emit({ type: "orphan-removed", containerId: id, reason })
      }
    } catch {
      // Others' leftovers must not keep this executor from its work.
    }
  }

  async #prepareImage(base: EngineImage, signal?: AbortSignal): Promise<void> {
    const { options } = this.#launcher
    const { wheelDir } = options
    const mounts = wheelDir === undefined ? [] : [{ source: wheelDir, target: WHEELS, mode: "ro" as const }]
    const policy = new SandboxPolicy({ ...options.policy.toJSON(), mounts })
    await checkMounts(policy, { isRemote: !this.engine.isLocal })
    const launch = async (): Promise<SandboxContainer> => this.#launchAgent(policy, signal)
    const { owner, scope } = this.#launcher
    const labels = {
      ...this.#launcher.labels,
      ...ownerLabels({ owner, policySha256: policy.sha256, isKept: false }),
    }
    this.#image = await prepareImage({ engine: this.engine, base, options, launch, labels, scope, signal })
  }

  async #launchAgent(policy: SandboxPolicy, signal?: AbortSignal): Promise<SandboxContainer> {
    const kind = this.#kind
    try {
      return await this.#launchKind(kind, policy, signal)
    } catch (error) {
      if (!(error instanceof AgentProgramMissing)) throw error
      const { agent } = this.#launcher
      if (agent) throw agent.missing(error)
      if (kind === "python") {
        this.#refuseSession()
        // No Python in the image: a shell will do, for this and all later ones; connections are carried by Node.
        this.#kind = allowListOf(policy.fields.network) ? "node" : "sh"
        return this.#launchAgent(policy, signal)
      }
      if (kind === "node") {
        throw new GloveboxError(
          "SANDBOX_UNENFORCEABLE",
          `The image ${this.imageName} has neither python3 nor node with sh, and one of them has to carry the connections that network: { allow: [...] } allows. Use network: none, or an image that has one.`,
          { cause: error },
        )
      }
      throw new GloveboxError(
        "IMAGE_UNAVAILABLE",
        `The image ${this.imageName} has neither python3 nor sh, and nothing can run in it without one of them: ${error.message}`,
        { cause: error },
      )
    }
  }

  // A shell cannot close itself to other processes of its user, so code could speak for it in later calls.
  #refuseSession(): void {
    if (this.#launcher.options.isolation !== "session") return
    throw new GloveboxError(
      "SANDBOX_UNENFORCEABLE",
      `The image ${this.imageName} has no Python, and without it one call of a session cannot be kept from another. Use isolation: "run", or an image with python3.`,
    )
  }

  async #launchKind(kind: AgentKind, policy: SandboxPolicy, signal?: AbortSignal): Promise<SandboxContainer> {
    const { options, owner } = this.#launcher
    const { containerName, isolation } = options
    // Before anything is waited for: another launch may count on meanwhile.
    const number = (this.#count += 1)
    const isKept = !options.autoRemove
    const base = containerName ?? this.#launcher.name ?? `glovebox-${owner.slice(0, 8)}`
    const isOnly = containerName !== undefined && isolation === "session"
    const name = isOnly ? containerName : `${base}-${number}`
    const image = this.#image.id
    const hasTunnel = allowListOf(policy.fields.network) !== undefined
    const command = await (this.#launcher.agent?.command ?? agentCommand)({
      kind,
      programs: options.languages.programs(),
      keepsReady: keepsReady(options),
      leaseMs: AGENT_LEASE_MS,
      isSuspicious: policy.fields.mounts.some(({ target }) => isInWorkspace(target)),
      compiled: compiledAgents.find(image, policy.fields),
      hasSlowPages: this.#runtime.isolation === "userspace-kernel",
      tunnelPort: hasTunnel ? TUNNEL_PORT : undefined,
    })
    const egress = this.#launcher.egress.open()
    const spec = containerSpec({
      policy: policy.fields,
      imageId: image,
      imageVolumes: this.#image.volumes,
      command,
      architecture: this.#info.architecture,
      runtime: this.#runtime.name,
      isPodman: this.#info.isPodman,
      labels: {
        ...this.#launcher.labels,
        ...ownerLabels({ owner, policySha256: policy.sha256, isKept }),
        [NAME_LABEL]: name,
      },
      extraHosts: options.extraHosts,
      deviceRequests: options.deviceRequests,
      autoRemove: options.autoRemove,
      endsWithConnection: options.stopContainer,
      env: {
        ...(options.functions.length === 0 ? {} : { PYTHONPATH: LIBRARY }),
        ...egress?.variables,
      },
    })
    const { engine } = this
    const { alter } = this.#launcher
    const { isPodman, architecture } = this.#info
    const container = await launchContainer({
      engine,
      policy: policy.fields,
      spec: alter ? alter(spec) : spec,
      isAltered: alter !== undefined,
      kind,
      egress,
      isPodman,
      architecture,
      name,
      keep: isKept,
      signal,
    })
    if (container.agent instanceof FramedAgent) compiledAgents.keep(image, container.agent.compiled)
    try {
      await trustAuthority(container.agent, options, egress?.certificate, signal)
    } catch (error) {
      await container.destroy().catch(() => {})
      throw error
    }
    return container
  }
}

// For a container that gets its one call at once there is nothing to be gained by readiness.
function keepsReady({ interpreter, isolation, pool }: DockerOptions): boolean {
  return interpreter === "ready" && (isolation === "session" || pool.size > 0)
}

function isInWorkspace(target: string): boolean {
  return target === WORKSPACE || target.startsWith(`${WORKSPACE}/`)
}

function once(action: () => Promise<void>): () => Promise<void> {
  let result: Promise<void> | undefined
  return async () => (result ??= action())
}
