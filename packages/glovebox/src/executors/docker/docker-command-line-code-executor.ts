import { z } from "zod"
import {
  type Component,
  type ComponentDefinition,
  type ComponentModel,
  defineComponent,
} from "../../core/index.ts"
import { TypedEmitter } from "../../internal/typed-emitter.ts"
import { type PolicyChange, checkTier } from "../../policy/index.ts"
import { LaunchedExecutor } from "../sandbox/launched-executor.ts"
import type { SandboxLauncher } from "../sandbox/sandbox-launcher.ts"
import type { SandboxEvent } from "../sandbox-event.ts"
import { tellContainers } from "./container-events.ts"
import { ContainerLauncher } from "./container-launcher.ts"
import { dockerConfigFromOptions, dockerConfigShape, dockerOptionsFromConfig } from "./docker-config.ts"
import {
  type DockerCommandLineCodeExecutorOptions,
  type DockerOptions,
  readDockerOptions,
} from "./docker-options.ts"
import { deviceWidenings } from "./device-widenings.ts"
import type { DockerExecutorEvent } from "./executor-event.ts"
import { newOwner } from "./ownership.ts"

const configSchema = z.strictObject(dockerConfigShape)

/**
 * Runs code blocks in hardened Docker containers: by default a fresh one for each call, with no
 * network, a read-only root, no capabilities, and a bound on everything.
 *
 * @example
 * await using executor = new DockerCommandLineCodeExecutor()
 * const { output } = await executor.executeCodeBlocks([{ language: "python", code: "print(6 * 7)" }])
 */
export class DockerCommandLineCodeExecutor extends LaunchedExecutor implements Component {
  static readonly definition: ComponentDefinition<
    z.input<typeof configSchema>,
    DockerCommandLineCodeExecutor
  > = defineComponent({
    provider: "glovebox.executors.DockerCommandLineCodeExecutor",
    aliases: ["autogen_ext.code_executors.docker.DockerCommandLineCodeExecutor"],
    type: "code_executor",
    config: configSchema,
    create: (config) => new DockerCommandLineCodeExecutor(dockerOptionsFromConfig(config)),
  })

  readonly #options: DockerOptions
  readonly #languages: DockerCommandLineCodeExecutorOptions["languages"]
  readonly #events = new TypedEmitter<DockerExecutorEvent>(() => {})

  constructor(given: DockerCommandLineCodeExecutorOptions = {}) {
    const options = readDockerOptions(given)
    checkTier(options.policy, "docker")
    super("docker", options)
    this.#options = options
    this.#languages = given.languages
  }

  /** With its policy as plain fields, the environment among them. */
  toComponent(): ComponentModel {
    return DockerCommandLineCodeExecutor.definition.dump(
      dockerConfigFromOptions(this.#options, this.policy, this.#languages),
    )
  }

  override get beyondPolicy(): readonly PolicyChange[] {
    return deviceWidenings(this.#options)
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

  /** Finds the engine and the image. */
  protected override async prepare(signal: AbortSignal): Promise<SandboxLauncher> {
    const emit = (event: DockerExecutorEvent): void => this.#events.emit(event)
    return ContainerLauncher.prepare(
      { options: this.#options, owner: newOwner(), emit, egress: this.egress },
      signal,
    )
  }
}
