import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  DockerCommandLineCodeExecutor,
  type DockerCommandLineCodeExecutorOptions,
} from "glovebox/executors/docker"
import { type PolicyInput, SandboxPolicy } from "glovebox/policy"
import { BenchError } from "../bench-error.ts"
import {
  type ContainerSpec,
  Engine,
  type EngineImage,
  type EngineInfo,
  containerSpec,
  findEngine,
  newOwner,
  ownerLabels,
} from "./internals.ts"
import { IMAGE } from "./settings.ts"

interface EngineParts {
  readonly engine: Engine
  readonly info: EngineInfo
  readonly image: EngineImage
  readonly folder: string
}

/** An engine with the bench's image, and everything the bench makes on it, so that all of it goes again. */
export class EngineBed implements AsyncDisposable {
  readonly engine: Engine
  readonly info: EngineInfo
  /** Of the host, for files that containers mount. */
  readonly folder: string
  /** Named, because a policy alone would choose gVisor where it is there. */
  readonly runtime: string
  readonly #image: EngineImage
  readonly #executors = new Set<DockerCommandLineCodeExecutor>()
  readonly #owner = newOwner()
  #closing: Promise<void> | undefined

  private constructor({ engine, info, image, folder }: EngineParts) {
    this.engine = engine
    this.info = info
    this.folder = folder
    this.runtime = info.defaultRuntime || "runc"
    this.#image = image
  }

  static async connect(): Promise<EngineBed> {
    const engine = new Engine(await findEngine())
    try {
      const info = await engine.info()
      const image = await engine.image(IMAGE)
      if (!image)
        throw new BenchError(`The engine has no image ${IMAGE}: build it, or set GLOVEBOX_BENCH_IMAGE.`)
      return new EngineBed({ engine, info, image, folder: await mkdtemp(join(tmpdir(), "glovebox-bench-")) })
    } catch (error) {
      engine.close()
      if (error instanceof BenchError) throw error
      const reason = error instanceof Error ? error.message : String(error)
      throw new BenchError(`The docker bench needs an engine: ${reason}`, { cause: error })
    }
  }

  get isClosing(): boolean {
    return this.#closing !== undefined
  }

  executor(options: DockerCommandLineCodeExecutorOptions = {}): DockerCommandLineCodeExecutor {
    const executor = new DockerCommandLineCodeExecutor({
      image: IMAGE,
      runtime: this.runtime,
      pull: "never",
      ...options,
    })
    this.#executors.add(executor)
    return executor
  }

  /** The settings of the executors' containers, with another command in it. */
  spec(command: readonly string[], policy: PolicyInput = {}): ContainerSpec {
    return containerSpec({
      policy: new SandboxPolicy({ image: IMAGE, runtime: this.runtime, ...policy }).fields,
      imageId: this.#image.id,
      imageVolumes: this.#image.volumes,
      command,
      architecture: this.info.architecture,
      runtime: this.runtime,
      isPodman: this.info.isPodman,
      labels: this.#labels(),
      extraHosts: {},
      deviceRequests: [],
      autoRemove: true,
      endsWithConnection: true,
      env: {},
    })
  }

  /** Ends and removes everything; once, however often it is called. */
  async close(): Promise<void> {
    await (this.#closing ??= this.#close())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #close(): Promise<void> {
    await Promise.allSettled([...this.#executors].map(async (executor) => executor.stop()))
    const label = "org.glovebox.process"
    const left = await this.engine.list([`${label}=${this.#labels()[label]}`])
    await Promise.allSettled(left.map(async ({ id }) => this.engine.remove(id)))
    this.engine.close()
    await rm(this.folder, { recursive: true, force: true })
  }

  #labels(): Record<string, string> {
    return ownerLabels({ owner: this.#owner, policySha256: "", isKept: false })
  }
}
