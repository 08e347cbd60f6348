import { TypedEmitter } from "../../internal/typed-emitter.ts"
import { type PolicyChange, type SandboxPolicy, checkTier } from "../../policy/index.ts"
import { describeFunctions } from "../functions/functions-module.ts"
import { chooseWorkspace } from "../sandbox/choose-workspace.ts"
import type { RunningExecutor } from "../sandbox/running-executor.ts"
import { SandboxExecutor } from "../sandbox/sandbox-executor.ts"
import { SandboxRunner } from "../sandbox/sandbox-runner.ts"
import type { Workspace } from "../workspace.ts"
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
export class DockerCommandLineCodeExecutor extends SandboxExecutor {
  readonly #options: DockerOptions
  readonly #workspace: Workspace | undefined
  readonly #events = new TypedEmitter<DockerExecutorEvent>(() => {})

  constructor(given: DockerCommandLineCodeExecutorOptions = {}) {
    const options = readDockerOptions(given)
    checkTier(options.policy, "docker")
    const { languages, isolation } = options
    const workspace = chooseWorkspace(options)
    super({ languages, concurrency: isolation === "session" ? 1 : options.concurrency, workspace })
    this.#options = options
    this.#workspace = workspace
  }

  get policy(): SandboxPolicy {
    return this.#options.policy
  }

  /** Everything in which this executor is wider than deny-all: the policy's, and devices, which no policy has. */
  widenings(): readonly PolicyChange[] {
    const devices = this.#options.deviceRequests.map((request): PolicyChange => ({
      path: "deviceRequests",
      from: "absent",
      to: JSON.stringify(request),
      effect: "widens",
    }))
    return [...this.policy.widenings(), ...devices]
  }

  /** Listens to what happens around the runs: pulls, containers made and removed. */
  on<Type extends DockerExecutorEvent["type"]>(
    type: Type,
    listener: (event: Extract<DockerExecutorEvent, { type: Type }>) => void,
  ): Disposable {
    return this.#events.on(type, listener)
  }

  /** What to tell a model of the functions that its code can import. */
  describeFunctions(): string {
    return describeFunctions(this.#options.functions, this.#options.functionsModule)
  }

  /** Finds the engine and the image, and makes the first containers. */
  protected override async open(signal: AbortSignal): Promise<RunningExecutor> {
    const options = this.#options
    const emit = (event: DockerExecutorEvent): void => this.#events.emit(event)
    return SandboxRunner.start(
      {
        launcher: await ContainerLauncher.prepare({ options, owner: newOwner(), emit }, signal),
        policy: options.policy,
        isolation: options.isolation,
        pool: options.pool,
        workspace: this.#workspace,
        isFolder: options.workDir !== undefined,
        carry: options.carry,
        deletesCodeFiles: options.deleteTmpFiles,
        prefersReady: options.interpreter === "ready",
        endsSession: options.stopContainer,
      },
      signal,
    )
  }
}
