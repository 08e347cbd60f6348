import type { WorkspaceFile } from "./workspace-file.ts"
import type { Workspace, WorkspaceChanges, WorkspaceLimits } from "./workspace.ts"

/** A workspace in this process's memory. */
export class MemoryWorkspace implements Workspace {
  readonly #limits: WorkspaceLimits
  #files = new Map<string, WorkspaceFile>()

  constructor(limits: WorkspaceLimits) {
    this.#limits = limits
  }

  async read(): Promise<readonly WorkspaceFile[]> {
    return [...this.#files.values()]
  }

  async apply({ files, removed }: WorkspaceChanges): Promise<boolean> {
    const next = new Map(this.#files)
    for (const path of removed) next.delete(path)
    for (const file of files) next.set(file.path, file)
    // A file in the place of a folder, from whoever sent both, could never be put again.
    for (const path of next.keys()) if (hasFileAbove(path, next)) next.delete(path)
    const bytes = [...next.values()].reduce((sum, { content }) => sum + content.length, 0)
    if (next.size > this.#limits.maxFiles || bytes > this.#limits.maxBytes) return false
    this.#files = next
    return true
  }

  async clear(): Promise<void> {
    this.#files.clear()
  }
}

function hasFileAbove(path: string, files: ReadonlyMap<string, WorkspaceFile>): boolean {
  for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) {
    if (files.has(path.slice(0, at))) return true
  }
  return false
}
