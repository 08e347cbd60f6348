import { LaunchedExecutor } from "../sandbox/launched-executor.ts"
import type { SandboxLauncher } from "../sandbox/sandbox-launcher.ts"
import { ContainerLauncher } from "./container-launcher.ts"
import type { ContainerSpec } from "./container-spec.ts"
import {
  type DockerCommandLineCodeExecutorOptions,
  type DockerOptions,
  readDockerOptions,
} from "./docker-options.ts"
import { newOwner } from "./ownership.ts"

/**
 * The executor with containers that differ from what their policy asks for, and whose settings nobody compares: to see
 * whether an attack works when what holds it is gone. Not for code of others.
 */
export class AlteredDockerExecutor extends LaunchedExecutor {
  readonly #options: DockerOptions
  readonly #alter: (spec: ContainerSpec) => ContainerSpec

  constructor(given: DockerCommandLineCodeExecutorOptions, alter: (spec: ContainerSpec) => ContainerSpec) {
    const options = readDockerOptions(given)
    super("docker", options)
    this.#options = options
    this.#alter = alter
  }

  protected override async prepare(signal: AbortSignal): Promise<SandboxLauncher> {
    return ContainerLauncher.prepare(
      { options: this.#options, owner: newOwner(), emit: () => {}, egress: this.egress, alter: this.#alter },
      signal,
    )
  }
}
