import { constants } from "node:fs"
import { lstat, open, readdir, realpath } from "node:fs/promises"
import { dirname, join, relative, resolve } from "node:path"
import { GloveboxError } from "../../core/index.ts"
import { FolderWorkspace } from "../../executors/folder-workspace.ts"
import { carryLimits } from "../../executors/sandbox/option-fields.ts"
import { isWorkspacePath, workspacePath } from "../../executors/workspace-path.ts"
import { type SandboxPolicy, formatBytes } from "../../policy/index.ts"
import { LARGEST_FILE } from "./file-contents.ts"

export interface ListedFile {
  readonly path: string
  readonly size: number
}

const CARRY = { maxBytes: 64 * 1024 ** 2, maxFiles: 4096 }
const MOST_LISTED = 1_000

/** The files of a session, as its caller may see and change them between runs. Links are neither shown nor followed. */
export class WorkspaceFiles {
  readonly #root: string
  readonly #policy: SandboxPolicy

  constructor(folder: string, policy: SandboxPolicy) {
    this.#root = resolve(folder)
    this.#policy = policy
  }

  /** The files in order; `more` when there are too many to list. */
  async list(): Promise<{ readonly files: readonly ListedFile[]; readonly more: boolean }> {
    const files: ListedFile[] = []
    for await (const path of this.#walk("")) {
      if (files.length === MOST_LISTED) return { files, more: true }
      // It may be gone by now: code runs beside this.
      const found = await lstat(join(this.#root, path)).catch(() => undefined)
      if (found?.isFile()) files.push({ path, size: found.size })
    }
    return { files, more: false }
  }

  async read(name: string): Promise<Buffer> {
    const path = workspacePath(name)
    return this.#withFile(path, async (handle) => {
      const { size } = await handle.stat()
      if (size > LARGEST_FILE) {
        throw new GloveboxError(
          "WORKSPACE_FAILED",
          `${path} has ${formatBytes(size)}, and at most ${formatBytes(LARGEST_FILE)} can be read at once. Read a part of it with code.`,
        )
      }
      // No further than was looked at, should it grow meanwhile.
      const content = Buffer.alloc(size)
      const { bytesRead } = await handle.read(content, 0, size, 0)
      return content.subarray(0, bytesRead)
    })
  }

  async write(name: string, content: Uint8Array): Promise<string> {
    const path = workspacePath(name)
    await this.#refuseToReplace(path)
    const limits = carryLimits(CARRY, this.#policy)
    const workspace = new FolderWorkspace(this.#root, limits)
    if (await workspace.apply({ files: [{ path, content, executable: false }], removed: [] })) return path
    throw new GloveboxError(
      "WORKSPACE_FAILED",
      `${path} was not written: all files together may have ${formatBytes(limits.maxBytes)}, and there may be ${limits.maxFiles}. Remove some with code.`,
    )
  }

  // What comes out of a sandbox may make a folder of a file; a caller who writes a file asked for no such thing.
  async #refuseToReplace(path: string): Promise<void> {
    const parts = path.split("/")
    for (let depth = 1; depth <= parts.length; depth += 1) {
      const name = parts.slice(0, depth).join("/")
      const found = await lstat(join(this.#root, name)).catch(() => undefined)
      const isInTheWay = depth < parts.length ? found?.isFile() : found?.isDirectory()
      if (isInTheWay !== true) continue
      throw new GloveboxError(
        "WORKSPACE_FAILED",
        `${path} was not written: ${name} is a ${depth < parts.length ? "file" : "folder"}. Choose another name, or remove it with code.`,
      )
    }
  }

  async *#walk(folder: string): AsyncGenerator<string> {
    // Not there before the first run, or not for us to see.
    const entries = await readdir(join(this.#root, folder), { withFileTypes: true }).catch(() => [])
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`
      if (!isWorkspacePath(path)) continue
      if (entry.isDirectory()) yield* this.#walk(path)
      else if (entry.isFile()) yield path
    }
  }

  async #withFile<T>(
    path: string,
    use: (handle: Awaited<ReturnType<typeof open>>) => Promise<T>,
  ): Promise<T> {
    const target = join(this.#root, path)
    const handle = await this.#open(target).catch((cause: unknown) => {
      throw new GloveboxError("WORKSPACE_FAILED", `There is no file ${path} in the workspace.`, { cause })
    })
    try {
      if (!(await handle.stat()).isFile()) {
        throw new GloveboxError(
          "WORKSPACE_FAILED",
          `${path} is no file. List the files to see what there is.`,
        )
      }
      return await use(handle)
    } finally {
      await handle.close()
    }
  }

  async #open(target: string): Promise<Awaited<ReturnType<typeof open>>> {
    // A folder above it may be a link that leads elsewhere.
    const folder = dirname(target)
    const expected = join(await realpath(this.#root), relative(this.#root, folder))
    if ((await realpath(folder)) !== expected) throw new Error("a folder above it is a link")
    // Without waiting for somebody to write, should it be a pipe.
    return open(target, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  }
}
