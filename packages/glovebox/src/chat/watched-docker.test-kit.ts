import { BASE } from "../executors/docker/docker-subject.test-kit.ts"
import {
  DockerCommandLineCodeExecutor,
  type DockerCommandLineCodeExecutorOptions,
} from "../executors/docker/index.ts"
import type {
  CodeBlock,
  CodeResult,
  ExecuteOptions,
  ExecutionEvent,
  SandboxReport,
  StreamOptions,
} from "../executors/index.ts"

/** The executor, which remembers each sandbox as the engine and the kernel described it, and not which it was. */
export class WatchedDockerExecutor extends DockerCommandLineCodeExecutor {
  readonly sandboxes: SandboxReport[] = []
  /** How many containers it has started. */
  made = 0

  constructor(options: DockerCommandLineCodeExecutorOptions = {}) {
    super({ ...BASE, pool: false, ...options })
    this.on("container-started", () => {
      this.made += 1
    })
  }

  override async executeCodeBlocks(
    blocks: readonly CodeBlock[],
    options?: ExecuteOptions,
  ): Promise<CodeResult> {
    const result = await super.executeCodeBlocks(blocks, options)
    this.#remember(result)
    return result
  }

  override async *stream(
    blocks: readonly CodeBlock[],
    options?: StreamOptions,
  ): AsyncGenerator<ExecutionEvent, void, undefined> {
    for await (const event of super.stream(blocks, options)) {
      if (event.type === "finished") this.#remember(event.result)
      yield event
    }
  }

  #remember({ sandbox }: CodeResult): void {
    this.sandboxes.push({ ...sandbox, containerId: undefined })
  }
}
