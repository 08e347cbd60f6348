import { FolderWorkspace } from "../folder-workspace.ts"
import { MemoryWorkspace } from "../memory-workspace.ts"
import type { Workspace, WorkspaceLimits } from "../workspace.ts"

/** Where files are between calls: in a folder, in memory, or nowhere. */
export function chooseWorkspace(options: {
  readonly carry: WorkspaceLimits | undefined
  readonly workDir?: string | undefined
}): Workspace | undefined {
  const { carry, workDir } = options
  if (!carry) return undefined
  return workDir === undefined ? new MemoryWorkspace(carry) : new FolderWorkspace(workDir, carry)
}
