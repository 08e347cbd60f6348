import { createHash } from "node:crypto"
import { GloveboxError } from "../../core/index.ts"
import { abortable } from "../../internal/abortable.ts"
import type { WorkspaceFile } from "../workspace-file.ts"
import type { Workspace, WorkspaceChanges } from "../workspace.ts"
import { AGENT_LEASE_MS } from "./agent-lease.ts"
import type { SandboxPool } from "./sandbox-pool.ts"
import { takeFrom } from "./run-source.ts"
import type { LeasedSandbox, SandboxSource, WorkspaceGap } from "./sandbox-source.ts"

/** One sandbox for all calls, in which files and packages stay. */
export class SessionSource implements SandboxSource {
  readonly #pool: SandboxPool
  /** A folder of the host that the session mirrors, if there is one. */
  readonly #folder: Workspace | undefined
  readonly #endsSandbox: boolean
  #current: LeasedSandbox | undefined
  #pinging: NodeJS.Timeout | undefined
  #removal = Promise.resolve()
  // By path: the digest of what the session and the folder had in common last.
  #common = new Map<string, string>()

  constructor(pool: SandboxPool, folder: Workspace | undefined, endsSandbox: boolean) {
    this.#pool = pool
    this.#folder = folder
    this.#endsSandbox = endsSandbox
  }

  async acquire(signal: AbortSignal): Promise<LeasedSandbox> {
    const current = this.#current
    if (current) {
      const { lost } = current.sandbox.agent
      if (!lost.aborted) return { sandbox: current.sandbox, pooled: true }
      this.#forget()
      throw new GloveboxError(
        "SANDBOX_LOST",
        "The session's sandbox ended while nothing ran, and its files with it. The next call begins a new one.",
        { cause: lost.reason },
      )
    }
    // Its name is free only then.
    await abortable(this.#removal, signal)
    const leased = await takeFrom(this.#pool, signal)
    this.#current = leased
    this.#pinging = setInterval(() => leased.sandbox.agent.ping(), AGENT_LEASE_MS / 3)
    this.#pinging.unref()
    return leased
  }

  async gap(): Promise<WorkspaceGap> {
    const files = (await this.#folder?.read()) ?? []
    const paths = new Set(files.map(({ path }) => path))
    const changed = files.filter((file) => this.#common.get(file.path) !== digest(file))
    const gone = [...this.#common.keys()].filter((path) => !paths.has(path))
    const confirm = (): void => {
      this.#common = new Map(files.map((file) => [file.path, digest(file)]))
    }
    return { files: changed, gone, confirm }
  }

  async keep(changes: WorkspaceChanges): Promise<boolean> {
    if (!this.#folder) return true
    for (const path of changes.removed) this.#common.delete(path)
    for (const file of changes.files) this.#common.set(file.path, digest(file))
    return this.#folder.apply(changes)
  }

  release(leased: LeasedSandbox, isAlive: boolean): void {
    if (isAlive) return
    if (this.#current?.sandbox === leased.sandbox) this.#forget()
    else void this.#pool.release(leased.sandbox)
  }

  async close(): Promise<void> {
    const current = this.#current
    clearInterval(this.#pinging)
    this.#current = undefined
    if (current && this.#endsSandbox) void this.#pool.release(current.sandbox)
    else current?.sandbox.agent.close()
    await this.#pool.close()
  }

  #forget(): void {
    clearInterval(this.#pinging)
    this.#common.clear()
    if (this.#current) this.#removal = this.#pool.release(this.#current.sandbox)
    this.#current = undefined
  }
}

function digest({ content, executable }: WorkspaceFile): string {
  return `${executable} ${createHash("sha256").update(content).digest("hex")}`
}
