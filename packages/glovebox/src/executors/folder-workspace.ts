import { constants } from "node:fs"
import { lstat, open, readdir } from "node:fs/promises"
import { join, resolve } from "node:path"
import { GloveboxError } from "../core/index.ts"
import { makeFolder } from "../internal/make-folder.ts"
import { formatBytes } from "../policy/index.ts"
import { removeWorkspaceFile } from "./remove-workspace-file.ts"
import type { WorkspaceFile } from "./workspace-file.ts"
import { isWorkspacePath } from "./workspace-path.ts"
import type { Workspace, WorkspaceChanges, WorkspaceLimits } from "./workspace.ts"
import { writeWorkspaceFile } from "./write-workspace-file.ts"

/** A workspace in a folder of the host. Links in it are neither followed nor carried. */
export class FolderWorkspace implements Workspace {
  readonly #root: string
  readonly #limits: WorkspaceLimits

  constructor(folder: string, limits: WorkspaceLimits) {
    this.#root = resolve(folder)
    this.#limits = limits
  }

  async read(): Promise<readonly WorkspaceFile[]> {
    await this.#makeRoot()
    const files: WorkspaceFile[] = []
    let bytes = 0
    for await (const path of this.#walk("")) {
      const file = await this.#readFile(path)
      if (!file) continue
      bytes += file.content.length
      files.push(file)
      if (files.length > this.#limits.maxFiles || bytes > this.#limits.maxBytes) throw this.#tooLarge()
    }
    return files
  }

  async apply({ files, removed }: WorkspaceChanges): Promise<boolean> {
    await this.#makeRoot()
    if (!(await this.#fits(files, removed))) return false
    for (const path of removed) await removeWorkspaceFile(this.#root, path)
    for (const file of files) await writeWorkspaceFile(this.#root, file)
    return true
  }

  // The folder is the user's: what is in it stays.
  async clear(): Promise<void> {}

  async *#walk(folder: string): AsyncGenerator<string> {
    for (const entry of await readdir(join(this.#root, folder), { withFileTypes: true })) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`
      if (!isWorkspacePath(path)) continue
      if (entry.isDirectory()) yield* this.#walk(path)
      else if (entry.isFile()) yield path
    }
  }

  async #makeRoot(): Promise<void> {
    await makeFolder(this.#root).catch((cause: unknown) => {
      throw new GloveboxError(
        "WORKSPACE_FAILED",
        `${this.#root} cannot be used as workDir: it is no folder.`,
        {
          cause,
        },
      )
    })
  }

  // More than can be read again would keep every later call from running.
  async #fits(files: readonly WorkspaceFile[], removed: readonly string[]): Promise<boolean> {
    const sizes = new Map<string, number>()
    for await (const path of this.#walk("")) {
      const found = await lstat(join(this.#root, path)).catch(() => undefined)
      if (found) sizes.set(path, found.size)
    }
    for (const path of removed) sizes.delete(path)
    for (const { path, content } of files) sizes.set(path, content.length)
    const bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0)
    return sizes.size <= this.#limits.maxFiles && bytes <= this.#limits.maxBytes
  }

  async #readFile(path: string): Promise<WorkspaceFile | undefined> {
    // Between the listing and the opening a link may have come in its place.
    const handle = await open(join(this.#root, path), constants.O_RDONLY | constants.O_NOFOLLOW).catch(
      () => undefined,
    )
    if (!handle) return undefined
    try {
      const { mode, size } = await handle.stat()
      if (size > this.#limits.maxBytes) throw this.#tooLarge()
      return { path, content: await handle.readFile(), executable: (mode & 0o100) !== 0 }
    } finally {
      await handle.close()
    }
  }

  #tooLarge(): GloveboxError {
    const { maxFiles, maxBytes } = this.#limits
    return new GloveboxError(
      "WORKSPACE_FAILED",
      `${this.#root} holds more than ${formatBytes(maxBytes)} or ${maxFiles} files, which is too much to carry into the sandbox. Mount large data read-only (policy.mounts), or raise carry, limits.workspace and limits.memory, which bound it.`,
    )
  }
}
