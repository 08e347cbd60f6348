import type { CodeResult } from "glovebox/executors"
import type {
  DockerCommandLineCodeExecutor,
  DockerCommandLineCodeExecutorOptions,
} from "glovebox/executors/docker"
import type { EngineBed } from "./engine-bed.ts"
import { checkPrinted } from "../programs.ts"

const WARM_MS = 400
const SETTLE_LIMIT_MS = 60_000

/** An executor with fresh containers that tells when its pool is full again and the used ones are gone. */
export class SettlingExecutor implements AsyncDisposable {
  readonly #executor: DockerCommandLineCodeExecutor
  readonly #poolSize: number
  readonly #present = new Set<string>()
  #started = 0
  #used = 0
  #onChange: (() => void) | undefined

  private constructor(executor: DockerCommandLineCodeExecutor, poolSize: number) {
    this.#executor = executor
    this.#poolSize = poolSize
    executor.on("container-started", ({ containerId }) => {
      this.#started += 1
      this.#present.add(containerId)
      this.#onChange?.()
    })
    executor.on("container-removed", ({ containerId }) => {
      this.#present.delete(containerId)
      this.#onChange?.()
    })
  }

  static async start(
    bed: EngineBed,
    poolSize: number,
    options: DockerCommandLineCodeExecutorOptions = {},
  ): Promise<SettlingExecutor> {
    const pool = poolSize === 0 ? (false as const) : { size: poolSize }
    const settling = new SettlingExecutor(bed.executor({ pool, ...options }), poolSize)
    await settling.#executor.start()
    await settling.settle()
    return settling
  }

  /** The containers that wait, once it has settled. */
  get containerIds(): readonly string[] {
    return [...this.#present]
  }

  async run(code: string): Promise<CodeResult> {
    this.#used += 1
    return this.#executor.executeCodeBlocks([{ language: "python", code }])
  }

  async print(code: string): Promise<void> {
    const { output, exitCode } = await this.run(code)
    checkPrinted(output, exitCode)
  }

  async settle(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error("The pool did not fill again.")), SETTLE_LIMIT_MS)
      this.#onChange = () => {
        if (this.#started < this.#used + this.#poolSize || this.#present.size > this.#poolSize) return
        clearTimeout(timer)
        this.#onChange = undefined
        resolve()
      }
      this.#onChange()
    })
    // A container that waits imports what programs need, a little after it is ready.
    if (this.#poolSize > 0) await new Promise((resolve) => setTimeout(resolve, WARM_MS))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#executor.stop()
  }
}
