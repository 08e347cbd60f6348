import type { WorkspaceFile } from "../workspace-file.ts"
import type { WorkspaceChanges } from "../workspace.ts"
import type { SandboxContainer } from "./launch-container.ts"

/** A container for the length of a call. */
export interface LeasedSandbox {
  readonly container: SandboxContainer
  /** Whether it was waiting, ready. */
  readonly pooled: boolean
}

/** What a container's workspace lacks and has too much of before a call. */
export interface WorkspaceGap {
  readonly files: readonly WorkspaceFile[]
  readonly gone: readonly string[]
  /** To be called when the container has what it lacked. */
  readonly confirm: () => void
}

/** Where calls get their containers from. */
export interface SandboxSource {
  acquire(signal: AbortSignal): Promise<LeasedSandbox>
  gap(): Promise<WorkspaceGap>
  /** Keeps what a call changed; false when it was too much. */
  keep(changes: WorkspaceChanges): Promise<boolean>
  /** Takes a container back; `isAlive` tells whether it can do more. */
  release(leased: LeasedSandbox, isAlive: boolean): void
  /** Ends all containers. */
  close(): Promise<void>
}
