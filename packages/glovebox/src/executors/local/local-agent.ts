import type { Collected, CollectLimits, RunEnd, RunRequest, SandboxAgent } from "../sandbox/sandbox-agent.ts"
import { settled } from "../sandbox/settled.ts"
import type { WorkspaceFile } from "../workspace-file.ts"
import type { CodeFiles } from "./code-files.ts"
import { type FolderState, changesOf, lookAtFolder } from "./folder-changes.ts"
import type { Guard } from "../sandbox/guard.ts"
import { HostProcess } from "./host-process.ts"

export interface LocalAgentOptions {
  readonly workDir: string
  readonly env: Readonly<Record<string, string>>
  readonly scratch: string
  readonly guard: Guard
  readonly codeFiles: CodeFiles
  /** The folder as it was before the call. */
  readonly before: FolderState
  /** Folders in it that are not the code's. */
  readonly except: readonly string[]
}

/** Does on this machine, for one call, what an agent does in a sandbox. */
export class LocalAgent implements SandboxAgent {
  readonly programs = {}
  readonly hasReadyInterpreter = false
  readonly facts = {}
  readonly lost: AbortSignal = new AbortController().signal
  readonly #options: LocalAgentOptions
  readonly #paths: string[] = []
  #putting: Promise<void> = Promise.resolve()
  #process: HostProcess | undefined
  #running: Promise<unknown> = Promise.resolve()

  constructor(options: LocalAgentOptions) {
    this.#options = options
  }

  /** The code files that it has written. */
  get paths(): readonly string[] {
    return this.#paths
  }

  put(files: Iterable<WorkspaceFile>): Promise<void> {
    const putting = this.#write(this.#putting, [...files])
    this.#putting = putting
    // Whoever runs the code that could not be written is told.
    putting.catch(() => {})
    return putting
  }

  async #write(earlier: Promise<void>, files: readonly WorkspaceFile[]): Promise<void> {
    await earlier
    for (const file of files) {
      await this.#options.codeFiles.write(file)
      this.#paths.push(file.path)
    }
  }

  remove(): void {}

  run({ argv, onOutput }: RunRequest): Promise<RunEnd> {
    const { workDir: cwd, env, scratch, guard } = this.#options
    const process = new HostProcess({ argv, cwd, env, scratch, guard, onOutput })
    this.#process = process
    const running = this.#putting.then(async () => process.run())
    this.#running = running
    return running
  }

  kill(): void {
    this.#process?.kill()
  }

  async collect(limits: CollectLimits): Promise<Collected> {
    const { workDir, before, except, codeFiles } = this.#options
    const after = await lookAtFolder(workDir, except)
    return changesOf(workDir, before, after, limits, (path, print) => codeFiles.has(path, print))
  }

  delivered(): void {}

  async undelivered(): Promise<undefined> {}

  async whenIdle(): Promise<void> {
    await settled(this.#putting)
    await settled(this.#running)
  }

  warm(): void {}

  ping(): void {}

  ref(): void {}

  pause(): void {
    this.#process?.pause()
  }

  resume(): void {
    this.#process?.resume()
  }

  close(): void {
    this.kill()
  }
}
