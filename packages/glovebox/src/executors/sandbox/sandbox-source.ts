import type { WorkspaceFile } from "../workspace-file.ts"
import type { WorkspaceChanges } from "../workspace.ts"
import type { Sandbox } from "./sandbox.ts"

/** A sandbox for the length of a call. */
export interface LeasedSandbox {
  readonly sandbox: Sandbox
  /** Whether it was waiting, ready. */
  readonly pooled: boolean
}

/** What a sandbox's workspace lacks and has too much of before a call. */
export interface WorkspaceGap {
  readonly files: readonly WorkspaceFile[]
  readonly gone: readonly string[]
  /** To be called when the sandbox has what it lacked. */
  readonly confirm: () => void
}

/** Where calls get their sandboxes from. */
export interface SandboxSource {
  acquire(signal: AbortSignal): Promise<LeasedSandbox>
  gap(): Promise<WorkspaceGap>
  /** Keeps what a call changed; false when it was too much. */
  keep(changes: WorkspaceChanges): Promise<boolean>
  /** Takes a sandbox back; `isAlive` tells whether it can do more. */
  release(leased: LeasedSandbox, isAlive: boolean): void
  /** Ends all sandboxes. */
  close(): Promise<void>
}
