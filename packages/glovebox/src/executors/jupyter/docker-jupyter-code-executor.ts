import { z } from "zod"
import {
  type Component,
  type ComponentDefinition,
  type ComponentModel,
  defineComponent,
} from "../../core/index.ts"
import { TypedEmitter } from "../../internal/typed-emitter.ts"
import {
  dockerConfigFromOptions,
  dockerConfigShape,
  dockerOptionsFromConfig,
} from "../docker/docker-config.ts"
import { deviceWidenings } from "../docker/device-widenings.ts"
import { tellContainers } from "../docker/container-events.ts"
import type { DockerExecutorEvent } from "../docker/executor-event.ts"
import type { SandboxEvent } from "../sandbox-event.ts"
import { newOwner } from "../docker/ownership.ts"
import type { PolicyChange } from "../../policy/index.ts"
import type { RunningExecutor } from "../sandbox/running-executor.ts"
import { PolicyExecutor } from "../sandbox/policy-executor.ts"
import {
  type DockerJupyterCodeExecutorOptions,
  type JupyterOptions,
  readJupyterOptions,
  withoutFixed,
} from "./jupyter-options.ts"
import { withRemedy } from "./image-remedy.ts"
import { KernelLauncher } from "./kernel-launcher.ts"
import type { KernelObserver } from "./kernel-observer.ts"
import { KernelRunner } from "./kernel-runner.ts"

// What a kernel says of itself, and data does not.
const configSchema = z.strictObject({
  ...withoutFixed(dockerConfigShape),
  /** Seconds. */
  idle_timeout: z.number().positive().nullish(),
  rich_output: z.strictObject({ max_bytes: z.int(), max_count: z.int() }).nullish(),
})

/**
 * Runs Python as cells of an IPython kernel that lives from call to call, in the same hardened container as the Docker
 * executor's: no network, no port, no token. What cells show (plots, tables) is in the result's `outputs`.
 *
 * @example
 * await using executor = new DockerJupyterCodeExecutor()
 * await executor.executeCodeBlocks([{ language: "python", code: "x = 41" }])
 * const { output } = await executor.executeCodeBlocks([{ language: "python", code: "x + 1" }])
 */
export class DockerJupyterCodeExecutor extends PolicyExecutor implements Component {
  static readonly definition: ComponentDefinition<z.input<typeof configSchema>, DockerJupyterCodeExecutor> =
    defineComponent({
      provider: "glovebox.executors.DockerJupyterCodeExecutor",
      type: "code_executor",
      config: configSchema,
      create: ({ idle_timeout: idle, rich_output: rich, ...config }) =>
        new DockerJupyterCodeExecutor({
          ...withoutFixed(dockerOptionsFromConfig(config)),
          idleTimeout: typeof idle === "number" ? Math.round(idle * 1000) : undefined,
          richOutput: rich ? { maxBytes: rich.max_bytes, maxCount: rich.max_count } : undefined,
        }),
    })

  readonly #options: JupyterOptions
  readonly #languages: DockerJupyterCodeExecutorOptions["languages"]
  readonly #events = new TypedEmitter<DockerExecutorEvent>(() => {})

  constructor(options: DockerJupyterCodeExecutorOptions = {}) {
    const read = readJupyterOptions(options)
    // Cells run in the kernel, and one kernel is one container.
    super("jupyter", { ...read.docker, isolation: "session", interpreter: "fresh" })
    this.#options = read
    this.#languages = options.languages
  }

  /** With its policy as plain fields, the environment among them. */
  toComponent(): ComponentModel {
    const { docker, idleTimeout, richOutput } = this.#options
    return DockerJupyterCodeExecutor.definition.dump({
      ...withoutFixed(dockerConfigFromOptions(docker, this.policy, this.#languages)),
      idle_timeout: idleTimeout === undefined ? undefined : idleTimeout / 1000,
      rich_output: { max_bytes: richOutput.maxBytes, max_count: richOutput.maxCount },
    })
  }

  override get beyondPolicy(): readonly PolicyChange[] {
    return deviceWidenings(this.#options.docker)
  }

  /** Listens to what happens around the runs: pulls, containers made and removed. */
  on<Type extends DockerExecutorEvent["type"]>(
    type: Type,
    listener: (event: Extract<DockerExecutorEvent, { type: Type }>) => void,
  ): Disposable {
    return this.#events.on(type, listener)
  }

  onSandbox(listener: (event: SandboxEvent) => void): Disposable {
    return tellContainers(this, listener)
  }

  protected override async open(signal: AbortSignal): Promise<RunningExecutor> {
    const { docker, idleTimeout, richOutput } = this.#options
    const [path, workspace] = [docker.workDir, this.workspace]
    this.egress.prepare()
    return KernelRunner.start(
      {
        open: async (observer, opening) => this.#openContainer(observer, opening),
        idleTimeout,
        richOutput,
        makesFiles: docker.carry !== undefined,
        folder: path !== undefined && workspace ? { path, workspace } : undefined,
      },
      signal,
    )
  }

  async #openContainer(observer: KernelObserver, signal: AbortSignal): Promise<RunningExecutor> {
    const { docker, richOutput } = this.#options
    const emit = (event: DockerExecutorEvent): void => this.#events.emit(event)
    const launcher = await KernelLauncher.prepare(
      {
        options: docker,
        owner: newOwner(),
        emit,
        egress: this.egress,
        observer,
        richBytes: richOutput.maxBytes,
      },
      signal,
    ).catch((error: unknown) => {
      throw withRemedy(error, docker.policy.fields.image)
    })
    return this.run(launcher, signal)
  }
}
