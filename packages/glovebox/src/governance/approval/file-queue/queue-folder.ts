import { randomUUID } from "node:crypto"
import { constants } from "node:fs"
import { link, lstat, open, readdir, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import { GloveboxError } from "../../../core/index.ts"
import { canonicalJson } from "../../../internal/canonical-json.ts"
import { makeFolder } from "../../../internal/make-folder.ts"
import { formatBytes } from "../../../policy/index.ts"

/** What a file of the folder is about. */
export type QueueFile = "request" | "answer" | "used"

const MAX_BYTES = 32 * 1024 ** 2
const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants

/** One JSON file for each request, answer and used mark; each appears whole or not at all, and is its owner's only. */
export class QueueFolder {
  readonly path: string
  #ready: Promise<void> | undefined

  constructor(path: string) {
    this.path = path
  }

  /** Makes it, and refuses one that others may write to. */
  async prepare(): Promise<void> {
    this.#ready ??= this.#prepare()
    try {
      await this.#ready
    } catch (error) {
      this.#ready = undefined
      throw error
    }
  }

  fileOf(id: string, file: QueueFile): string {
    return join(this.path, `${id}.${file}.json`)
  }

  /** The ids of which there is such a file. */
  async ids(file: QueueFile): Promise<readonly string[]> {
    const end = `.${file}.json`
    const names = await readdir(this.path)
    return names.filter((name) => name.endsWith(end)).map((name) => name.slice(0, -end.length))
  }

  /**
   * The data of a file; undefined when there is none.
   *
   * @throws GloveboxError STATE_INVALID for what is no plain file of this user, too large, or no JSON
   */
  async read(id: string, file: QueueFile): Promise<unknown> {
    const path = this.fileOf(id, file)
    // Not followed, and not waited for: a link could lead anywhere, and a pipe never end.
    const handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return undefined
        throw refused(path, error.code === "ELOOP" ? "it is a link" : error.message, error)
      },
    )
    if (!handle) return undefined
    try {
      const stat = await handle.stat()
      if (!stat.isFile()) throw refused(path, "it is no plain file")
      checkOwner(path, stat)
      if (stat.size > MAX_BYTES) throw refused(path, `it is larger than ${formatBytes(MAX_BYTES)}`)
      const bytes = Buffer.alloc(stat.size)
      const { bytesRead } = await handle.read(bytes, 0, stat.size, 0)
      return parsed(path, bytes.subarray(0, bytesRead))
    } finally {
      await handle.close()
    }
  }

  /** Puts a file in the place of what was there. It need not outlast the machine: whoever resumes writes it again. */
  async write(id: string, file: QueueFile, data: unknown): Promise<void> {
    const written = await this.#temporary(data, false)
    await rename(written, this.fileOf(id, file))
  }

  /** Makes a file that is on the disk when this resolves; false when there is one, and then nothing is changed. */
  async create(id: string, file: QueueFile, data: unknown): Promise<boolean> {
    const written = await this.#temporary(data, true)
    try {
      // A link is made by one only, and has its whole content from the start.
      await link(written, this.fileOf(id, file))
      await this.#syncNames()
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") return false
      throw error
    } finally {
      await rm(written, { force: true })
    }
  }

  async remove(id: string, ...files: readonly QueueFile[]): Promise<void> {
    for (const file of files) await rm(this.fileOf(id, file), { force: true })
  }

  async #syncNames(): Promise<void> {
    const handle = await open(this.path, O_RDONLY)
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  }

  async #prepare(): Promise<void> {
    await makeFolder(this.path, { mode: 0o700 })
    const stat = await lstat(this.path)
    if (!stat.isDirectory()) throw refused(this.path, "it is no folder")
    checkOwner(this.path, stat)
  }

  async #temporary(data: unknown, isDurable: boolean): Promise<string> {
    await this.prepare()
    const text = canonicalJson(data)
    if (Buffer.byteLength(text) > MAX_BYTES) {
      throw refused(this.path, `the data is larger than ${formatBytes(MAX_BYTES)}`)
    }
    const path = join(this.path, `.${randomUUID()}.tmp`)
    const handle = await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
    try {
      await handle.writeFile(text)
      if (isDurable) await handle.sync()
    } catch (error) {
      await rm(path, { force: true })
      throw error
    } finally {
      await handle.close()
    }
    return path
  }
}

// Whoever else may write there could approve.
function checkOwner(path: string, { uid, mode }: { readonly uid: number; readonly mode: number }): void {
  const user = process.geteuid?.()
  if (user === undefined) return
  if (uid !== user && uid !== 0) throw refused(path, "it belongs to another user")
  if ((mode & 0o022) !== 0) throw refused(path, "others may write to it")
}

function parsed(path: string, bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes))
  } catch (error) {
    throw refused(path, "it is not whole, or no JSON", error)
  }
}

function refused(path: string, why: string, cause?: unknown): GloveboxError {
  return new GloveboxError("STATE_INVALID", `${path} is not used: ${why}.`, { cause })
}
