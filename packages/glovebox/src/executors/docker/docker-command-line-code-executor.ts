import { TypedEmitter } from "../../internal/typed-emitter.ts"
import { type PolicyChange, checkTier } from "../../policy/index.ts"
import { LaunchedExecutor } from "../sandbox/launched-executor.ts"
import type { SandboxLauncher } from "../sandbox/sandbox-launcher.ts"
import { ContainerLauncher } from "./container-launcher.ts"
import {
  type DockerCommandLineCodeExecutorOptions,
  type DockerOptions,
  readDockerOptions,
} from "./docker-options.ts"
import type { DockerExecutorEvent } from "./executor-event.ts"
import { newOwner } from "./ownership.ts"

/**
 * Runs code blocks in hardened Docker containers: by default a fresh one for each call, with no
 * network, a read-only root, no capabilities, and a bound on everything.
 *
 * @example
 * await using executor = new DockerCommandLineCodeExecutor()
 * const { output } = await executor.executeCodeBlocks([{ language: "python", code: "print(6 * 7)" }])
 */
export class DockerCommandLineCodeExecutor extends LaunchedExecutor {
  readonly #options: DockerOptions
  readonly #events = new TypedEmitter<DockerExecutorEvent>(() => {})

  constructor(given: DockerCommandLineCodeExecutorOptions = {}) {
    const options = readDockerOptions(given)
    checkTier(options.policy, "docker")
    super(options)
    this.#options = options
  }

  /** Everything in which this executor is wider than deny-all: the policy's, and devices, which no policy has. */
  override widenings(): readonly PolicyChange[] {
    const devices = this.#options.deviceRequests.map((request): PolicyChange => ({
      path: "deviceRequests",
      from: "absent",
      to: JSON.stringify(request),
      effect: "widens",
    }))
    return [...super.widenings(), ...devices]
  }

  /** Listens to what happens around the runs: pulls, containers made and removed. */
  on<Type extends DockerExecutorEvent["type"]>(
    type: Type,
    listener: (event: Extract<DockerExecutorEvent, { type: Type }>) => void,
  ): Disposable {
    return this.#events.on(type, listener)
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
