import type { WorkspaceFile } from "./workspace-file.ts"

export interface WorkspaceChanges {
  readonly files: readonly WorkspaceFile[]
  readonly removed: readonly string[]
}

/** Where files are kept between runs, on the host's side. */
export interface Workspace {
  /** Everything in it. */
  read(): Promise<readonly WorkspaceFile[]>
  /** Takes over what a run changed; false when it would grow over its limit, and then nothing is taken. */
  apply(changes: WorkspaceChanges): Promise<boolean>
  clear(): Promise<void>
}

export interface WorkspaceLimits {
  readonly maxFiles: number
  readonly maxBytes: number
}
