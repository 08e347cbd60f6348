import { abortable } from "../../internal/abortable.ts"
import type { Workspace, WorkspaceChanges } from "../workspace.ts"
import type { SandboxPool } from "./sandbox-pool.ts"
import type { LeasedSandbox, SandboxSource, WorkspaceGap } from "./sandbox-source.ts"

/** A fresh sandbox for each call; files travel with the calls. */
export class RunSource implements SandboxSource {
  readonly #pool: SandboxPool
  readonly #workspace: Workspace | undefined

  constructor(pool: SandboxPool, workspace: Workspace | undefined) {
    this.#pool = pool
    this.#workspace = workspace
  }

  async acquire(signal: AbortSignal): Promise<LeasedSandbox> {
    return takeFrom(this.#pool, signal)
  }

  async gap(): Promise<WorkspaceGap> {
    return { files: (await this.#workspace?.read()) ?? [], gone: [], confirm: () => {} }
  }

  async keep(changes: WorkspaceChanges): Promise<boolean> {
    if (changes.files.length === 0 && changes.removed.length === 0) return true
    return (await this.#workspace?.apply(changes)) ?? true
  }

  release({ sandbox }: LeasedSandbox): void {
    this.#pool.retire(sandbox)
  }

  async close(): Promise<void> {
    await this.#pool.close()
  }
}

/** A sandbox of the pool, or the signal's reason; a sandbox that comes too late is let go. */
export async function takeFrom(pool: SandboxPool, signal: AbortSignal): Promise<LeasedSandbox> {
  const taking = pool.take()
  try {
    return await abortable(taking, signal)
  } catch (error) {
    taking.then(
      ({ sandbox }) => void pool.release(sandbox),
      () => {},
    )
    throw error
  }
}
