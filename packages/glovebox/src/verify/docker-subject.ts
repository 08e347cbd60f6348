import { GloveboxError } from "../core/index.ts"
import type { CodeExecutor } from "../executors/code-executor.ts"
import { AlteredDockerExecutor } from "../executors/docker/altered-executor.ts"
import { chooseRuntime } from "../executors/docker/choose-runtime.ts"
import { type ContainerSpec, containerSpec } from "../executors/docker/container-spec.ts"
import { type EngineAddressOptions, findEngine } from "../executors/docker/engine-address.ts"
import { Engine } from "../executors/docker/engine.ts"
import {
  DockerCommandLineCodeExecutor,
  type DockerCommandLineCodeExecutorOptions,
} from "../executors/docker/index.ts"
import { newOwner, ownerLabels } from "../executors/docker/ownership.ts"
import { DockerJupyterCodeExecutor } from "../executors/jupyter/index.ts"
import type { EgressLookup } from "../egress/index.ts"
import { egressVariables } from "../executors/sandbox/sandbox-egress.ts"
import { TUNNEL_PORT } from "../executors/sandbox/tunnel.ts"
import { type PolicyInput, SandboxPolicy, allowListOf } from "../policy/index.ts"
import type { LabLeftover, ProbeFacts, SandboxPath, Weakening } from "../probes/index.ts"
import { bridgeGateway } from "./bridge-gateway.ts"
import { BareExecutor } from "./bare-executor.ts"
import { abandonContainer } from "./abandon-container.ts"
import { DOCKER_PRESETS, type Preset } from "./docker-presets.ts"
import { type Weakened, weakenDocker } from "./docker-weakenings.ts"
import type { Subject, SubjectDescription, SubjectSettings } from "./subject.ts"

export interface DockerSubjectOptions extends EngineAddressOptions {
  readonly tier: "docker" | "jupyter"
  readonly path: SandboxPath
  /** Containers with the settings of another. */
  readonly preset?: Preset | undefined
  readonly pull?: DockerCommandLineCodeExecutorOptions["pull"]
  readonly egress?: { readonly lookup?: EgressLookup | undefined } | undefined
}

const AT_ONCE = 4

/** Containers of an engine, with a plain agent or with a kernel. */
export class DockerSubject implements Subject {
  readonly #options: DockerSubjectOptions
  readonly #engine: Engine
  #gateway: string | undefined
  #socket = "/var/run/docker.sock"
  #runtimeForControls: string | undefined

  private constructor(options: DockerSubjectOptions, engine: Engine) {
    this.#options = options
    this.#engine = engine
  }

  static async open(options: DockerSubjectOptions): Promise<DockerSubject> {
    const { dockerHost, dockerContext, tls, dangerouslyAllowPlaintext } = options
    const engine = new Engine(await findEngine({ dockerHost, dockerContext, tls, dangerouslyAllowPlaintext }))
    return new DockerSubject(options, engine)
  }

  get tier(): "docker" | "jupyter" {
    return this.#options.tier
  }

  get nameServers(): readonly string[] {
    return this.#gateway === undefined ? [] : [this.#gateway]
  }

  async prepare(
    input: PolicyInput,
    signal: AbortSignal,
  ): Promise<{ readonly facts: ProbeFacts } & SubjectDescription> {
    if (this.#options.preset !== undefined && !this.#engine.isLocal) {
      throw new GloveboxError(
        "OPTION_INVALID",
        "A preset mounts a folder of this machine, so its engine has to be on this machine too.",
      )
    }
    // Fetches the image, and refuses what the engine cannot enforce.
    const probing = this.open({
      policy: input,
      isSession: false,
      pool: 0,
      weakenings: [],
      token: "",
      folder: "",
    })
    try {
      await probing.start({ signal })
    } finally {
      await probing.stop()
    }
    const { fields } = new SandboxPolicy(input)
    const engine = this.#engine
    const [info, image, gateway] = await Promise.all([
      engine.info(signal),
      engine.image(fields.image),
      gatewayOf(engine),
    ])
    this.#gateway = gateway
    const { address } = engine
    if (address.kind === "socket") this.#socket = address.path
    const runtime = chooseRuntime(fields, info)
    const hasOwnKernel = this.#options.preset === undefined && runtime.isolation === "userspace-kernel"
    // A kernel of its own holds by itself what a setting holds elsewhere: holes are shown where they show.
    if (hasOwnKernel && Object.hasOwn(info.runtimes, "runc")) this.#runtimeForControls = "runc"
    const hasTunnel = allowListOf(fields.network) !== undefined
    return {
      facts: {
        tier: this.tier,
        path: this.#options.path,
        hasOwnKernel,
        knownEnv: [...(image?.variables ?? []), ...egressVariables(fields)],
        imageVolumes: image?.volumes ?? [],
        hostKernel: info.kernel || undefined,
        proxyPort: hasTunnel ? TUNNEL_PORT : undefined,
        isLocal: engine.isLocal,
      },
      kernel: info.kernel || undefined,
      engine: `${info.isPodman ? "Podman" : "Docker"} ${info.version}`,
      runtime: runtime.name ?? "the engine's own",
      imageDigest: image?.id,
    }
  }

  open(settings: SubjectSettings): CodeExecutor {
    const options = this.#executorOptions(settings)
    const altered = this.#altered(settings)
    if (!altered && this.tier === "jupyter") {
      const { isolation: _isolation, pool: _pool, concurrency: _concurrency, ...common } = options
      return new DockerJupyterCodeExecutor(common)
    }
    if (!altered) return new DockerCommandLineCodeExecutor(options)
    const { policy, alter } = altered
    // Where it is not process 1, no agent runs.
    if (settings.weakenings.includes("host-pid")) {
      return new BareExecutor(this.#engine, () => alter(this.#bareSpec(policy)))
    }
    return new AlteredDockerExecutor({ ...options, policy }, alter)
  }

  async abandon(settings: SubjectSettings, signal: AbortSignal): Promise<LabLeftover> {
    const options = { ...this.#executorOptions(settings), isolation: "run" as const, pool: false as const }
    const altered = this.#altered(settings)
    const { policy } = altered ?? settings
    return abandonContainer({ ...options, policy }, altered?.alter, signal)
  }

  #executorOptions(settings: SubjectSettings): DockerCommandLineCodeExecutorOptions {
    const { dockerHost, dockerContext, tls, dangerouslyAllowPlaintext, pull, egress } = this.#options
    const common = {
      ...defined({ dockerHost, dockerContext, tls, dangerouslyAllowPlaintext, pull, egress }),
      ...(settings.workDir === undefined ? {} : { workDir: settings.workDir }),
    }
    const isSession = settings.isSession || this.#options.path === "session"
    return {
      ...common,
      policy: settings.policy,
      isolation: isSession ? "session" : "run",
      pool: this.#options.path === "pooled" ? { size: settings.pool } : false,
      concurrency: AT_ONCE,
    }
  }

  // What differs from the policy's own containers; undefined where nothing does.
  #altered({ policy, weakenings, folder, token }: SubjectSettings): Weakened | undefined {
    const { preset } = this.#options
    const means = { folder, token, gateway: this.#gateway, engineSocket: this.#socket }
    if (preset !== undefined) {
      return {
        policy: { ...policy, runtime: "auto" },
        alter: (spec) => DOCKER_PRESETS[preset](spec, means),
      }
    }
    if (weakenings.length === 0) return undefined
    const weakened = weakenDocker(policy, weakenings, means)
    const runtime = this.#runtimeForControls
    return runtime === undefined ? weakened : { ...weakened, policy: { ...weakened.policy, runtime } }
  }

  #bareSpec(policy: PolicyInput): ContainerSpec {
    const { fields, sha256 } = new SandboxPolicy(policy)
    return containerSpec({
      policy: fields,
      imageId: fields.image,
      imageVolumes: [],
      command: [],
      architecture: "",
      runtime: fields.runtime === "auto" ? undefined : fields.runtime,
      isPodman: false,
      labels: ownerLabels({ owner: newOwner(), policySha256: sha256, isKept: false }),
      extraHosts: {},
      deviceRequests: [],
      autoRemove: false,
      endsWithConnection: false,
      env: {},
    })
  }

  canWeaken(weakening: Weakening): boolean {
    return weakening !== "network-bridge" || this.#gateway !== undefined
  }

  async keptLog(containerId: string): Promise<string | undefined> {
    return this.#engine.ask("read a log", async (docker) => {
      try {
        const log: unknown = await docker
          .getContainer(containerId)
          .logs({ stdout: true, stderr: true, follow: false })
        return Buffer.isBuffer(log) ? log.toString("latin1") : String(log)
      } catch (error) {
        // It is the engine's way to say that it keeps none.
        if (/logging driver|does not support reading/i.test(String(error))) return undefined
        throw error
      }
    })
  }

  async hasContainer(containerId: string): Promise<boolean> {
    return this.#engine.ask("look for a container", async (docker) => {
      try {
        await docker.getContainer(containerId).inspect()
        return true
      } catch (error) {
        if ((error as { statusCode?: number }).statusCode === 404) return false
        throw error
      }
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#engine.close()
  }
}

async function gatewayOf(engine: Engine): Promise<string | undefined> {
  return engine.ask("look at its bridge", async (docker) => {
    try {
      return bridgeGateway(await docker.getNetwork("bridge").inspect())
    } catch {
      // Podman has none of this name.
      return undefined
    }
  })
}

function defined<T extends object>(fields: T): { [Key in keyof T]: NonNullable<T[Key]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Key in keyof T]: NonNullable<T[Key]>
  }
}
