import { constants } from "node:fs"
import { lstat, mkdir, open } from "node:fs/promises"
import { join } from "node:path"
import { GloveboxError } from "../../core/index.ts"
import { removeWorkspaceFile } from "../remove-workspace-file.ts"
import type { WorkspaceFile } from "../workspace-file.ts"
import { writeWorkspaceFile } from "../write-workspace-file.ts"
import { fingerprint } from "./folder-changes.ts"

interface Written {
  /** How many calls still need it. */
  users: number
  print: string
  /** What was there before, and is put back. */
  readonly original: WorkspaceFile | undefined
}

/** The files that code is written to, in a folder that calls share and that may be the user's own. */
export class CodeFiles {
  readonly #root: string
  readonly #written = new Map<string, Written>()
  // One at a time: two calls may run the same code.
  #last: Promise<unknown> = Promise.resolve()

  constructor(root: string) {
    this.#root = root
  }

  /** Whether the file is as it was written here. */
  has(path: string, print: string): boolean {
    return this.#written.get(path)?.print === print
  }

  async write(file: WorkspaceFile): Promise<void> {
    await this.#inTurn(async () => {
      const known = this.#written.get(file.path)
      const original = known ? known.original : await this.#read(file.path)
      await mkdir(this.#root, { recursive: true }).catch((cause: unknown) => {
        throw new GloveboxError("WORKSPACE_FAILED", `${this.#root} cannot be used: it is no folder.`, {
          cause,
        })
      })
      await writeWorkspaceFile(this.#root, file)
      const print = fingerprint(await lstat(join(this.#root, file.path), { bigint: true }))
      this.#written.set(file.path, { users: (known?.users ?? 0) + 1, print, original })
    })
  }

  /** A call needs these no more; those that are not to stay go, unless another call has the same. */
  async release(paths: readonly string[], stays: (path: string) => boolean): Promise<void> {
    await this.#inTurn(async () => {
      for (const path of paths) {
        const known = this.#written.get(path)
        if (!known) continue
        known.users -= 1
        if (known.users > 0) continue
        this.#written.delete(path)
        if (stays(path)) continue
        // A name that the caller gave may be that of a file which was there already.
        if (known.original) await writeWorkspaceFile(this.#root, known.original).catch(() => {})
        else await removeWorkspaceFile(this.#root, path).catch(() => {})
      }
    })
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work)
    this.#last = turn.catch(() => {})
    return turn
  }

  async #read(path: string): Promise<WorkspaceFile | undefined> {
    // Its name is made from the code, so it can only be what an earlier run left.
    if (/^tmp_code_[0-9a-f]{64}\./.test(path)) return undefined
    const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
    const handle = await open(join(this.#root, path), flags).catch(() => undefined)
    if (!handle) return undefined
    try {
      const found = await handle.stat()
      if (!found.isFile()) return undefined
      return { path, content: await handle.readFile(), executable: (found.mode & 0o100) !== 0 }
    } finally {
      await handle.close()
    }
  }
}
