import { TypedEmitter } from "../../internal/typed-emitter.ts"
import type { PolicyChange, SandboxPolicy } from "../../policy/index.ts"
import type { DockerExecutorEvent } from "../docker/executor-event.ts"
import { newOwner } from "../docker/ownership.ts"
import { describeFunctions } from "../functions/functions-module.ts"
import { chooseWorkspace } from "../sandbox/choose-workspace.ts"
import type { RunningExecutor } from "../sandbox/running-executor.ts"
import { SandboxExecutor } from "../sandbox/sandbox-executor.ts"
import { SandboxRunner } from "../sandbox/sandbox-runner.ts"
import type { Workspace } from "../workspace.ts"
import {
  type DockerJupyterCodeExecutorOptions,
  type JupyterOptions,
  readJupyterOptions,
} from "./jupyter-options.ts"
import { withRemedy } from "./image-remedy.ts"
import { KernelLauncher } from "./kernel-launcher.ts"
import type { KernelObserver } from "./kernel-observer.ts"
import { KernelRunner } from "./kernel-runner.ts"

/**
 * Runs Python as cells of an IPython kernel that lives from call to call, in the same hardened container as the Docker
 * executor's: no network, no port, no token. What cells show (plots, tables) is in the result's `outputs`.
 *
 * @example
 * await using executor = new DockerJupyterCodeExecutor()
 * await executor.executeCodeBlocks([{ language: "python", code: "x = 41" }])
 * const { output } = await executor.executeCodeBlocks([{ language: "python", code: "x + 1" }])
 */
export class DockerJupyterCodeExecutor extends SandboxExecutor {
  readonly #options: JupyterOptions
  readonly #workspace: Workspace | undefined
  readonly #events = new TypedEmitter<DockerExecutorEvent>(() => {})

  constructor(options: DockerJupyterCodeExecutorOptions = {}) {
    const read = readJupyterOptions(options)
    const workspace = chooseWorkspace(read.docker)
    super({ languages: read.docker.languages, concurrency: 1, workspace })
    this.#options = read
    this.#workspace = workspace
  }

  get policy(): SandboxPolicy {
    return this.#options.docker.policy
  }

  /** Everything in which this executor is wider than deny-all. */
  widenings(): readonly PolicyChange[] {
    return this.policy.widenings()
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
    const { functions, functionsModule } = this.#options.docker
    return describeFunctions(functions, functionsModule)
  }

  protected override async open(signal: AbortSignal): Promise<RunningExecutor> {
    const { docker, idleTimeout, richOutput } = this.#options
    const [path, workspace] = [docker.workDir, this.#workspace]
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
      { options: docker, owner: newOwner(), emit, observer, richBytes: richOutput.maxBytes },
      signal,
    ).catch((error: unknown) => {
      throw withRemedy(error, docker.policy.fields.image)
    })
    return SandboxRunner.start(
      {
        launcher,
        policy: docker.policy,
        isolation: "session",
        pool: docker.pool,
        workspace: this.#workspace,
        isFolder: docker.workDir !== undefined,
        carry: docker.carry,
        deletesCodeFiles: docker.deleteTmpFiles,
        prefersReady: false,
        endsSession: docker.stopContainer,
      },
      signal,
    )
  }
}
