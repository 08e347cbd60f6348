import { GloveboxError } from "../../core/index.ts"
import { formatBytes } from "../../policy/index.ts"
import type { SandboxProbeFacts } from "../../probes/index.ts"
import { ContainerLauncher, type LauncherOptions } from "../docker/container-launcher.ts"
import type { Language } from "../languages.ts"
import type { AgentCommandOptions } from "../sandbox/agent-command.ts"
import type { Facts } from "../sandbox/agent-answers.ts"
import type { SandboxLauncher } from "../sandbox/sandbox-launcher.ts"
import type { Sandbox } from "../sandbox/sandbox.ts"
import { KernelAgent } from "./kernel-agent.ts"
import { kernelCommand } from "./kernel-command.ts"
import type { KernelObserver } from "./kernel-observer.ts"

export interface KernelLauncherOptions extends Omit<LauncherOptions, "agent"> {
  readonly observer: KernelObserver
  readonly richBytes: number
}

/** Makes the Docker executor's containers, with a kernel in each. */
export class KernelLauncher implements SandboxLauncher {
  readonly kind = "jupyter"
  readonly #containers: ContainerLauncher
  readonly #launcher: KernelLauncherOptions

  private constructor(containers: ContainerLauncher, launcher: KernelLauncherOptions) {
    this.#containers = containers
    this.#launcher = launcher
  }

  static async prepare(launcher: KernelLauncherOptions, signal?: AbortSignal): Promise<KernelLauncher> {
    const { options, richBytes } = launcher
    const { image } = options.policy.fields
    const agent = {
      command: async (request: AgentCommandOptions) => kernelCommand({ ...request, richBytes }),
      missing: (cause: Error) => withoutKernel(image, "it has no python3", cause),
    }
    return new KernelLauncher(await ContainerLauncher.prepare({ ...launcher, agent }, signal), launcher)
  }

  async launch(signal?: AbortSignal): Promise<Sandbox> {
    const container = await this.#containers.launch(signal).catch((error: unknown) => {
      throw GloveboxError.is(error, "SANDBOX_LOST") ? this.#failure(error.message) : error
    })
    const { kernel } = container.agent.facts as Facts
    const { observer, richBytes } = this.#launcher
    if (!kernel || kernel.trouble !== null) {
      await container.destroy().catch(() => {})
      throw this.#failure(kernel?.trouble ?? "its agent knows of none")
    }
    observer.launched()
    const agent = new KernelAgent(container.agent, { observer, number: kernel.number, richBytes })
    return { ...container, agent }
  }

  async ranOutOfMemory(sandbox: Sandbox): Promise<boolean> {
    return this.#containers.ranOutOfMemory(sandbox)
  }

  probeFacts(): SandboxProbeFacts {
    return this.#containers.probeFacts()
  }

  missingProgram(program: string, language: Language): GloveboxError {
    return this.#containers.missingProgram(program, language)
  }

  async close(): Promise<void> {
    await this.#containers.close()
  }

  #failure(trouble: string): GloveboxError {
    const { image, limits } = this.#launcher.options.policy.fields
    if (/No module named|ImportError/.test(trouble)) return withoutKernel(image, lastLine(trouble))
    return new GloveboxError(
      "SANDBOX_SETUP_FAILED",
      `The Jupyter kernel could not be started in the image ${image}: ${lastLine(trouble)} (It needs about 60 MiB and 16 processes to begin with: limits.memory is ${formatBytes(limits.memory)}, limits.pids ${limits.pids}.)`,
    )
  }
}

function withoutKernel(image: string, why: string, cause?: Error): GloveboxError {
  return new GloveboxError(
    "IMAGE_UNAVAILABLE",
    `The image ${image} cannot run a Jupyter kernel: ${why}. Install ipykernel in it (pip install ipykernel, or Debian's python3-ipykernel), or name an image that has it.`,
    { cause },
  )
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1)?.trim() ?? ""
}
