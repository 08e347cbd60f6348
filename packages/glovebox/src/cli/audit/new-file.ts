import { type FileHandle, open, rename, rm, stat } from "node:fs/promises"
import { auditFiles } from "../../governance/audit/index.ts"
import { errorMessage } from "../../internal/error-message.ts"
import { CommandFailure, EXIT_USAGE } from "../command-failure.ts"

const BUFFER_CHARACTERS = 256 * 1024

interface NewFileOptions {
  /** A log whose files must stay. */
  readonly log: string
  /** Whether another file may be replaced. */
  readonly force?: boolean | undefined
}

/** A file that gets its name when it is whole; before that, it is removed when something fails. */
export class NewFile implements AsyncDisposable {
  readonly #path: string
  readonly #handle: FileHandle
  #waiting: string[] = []
  #length = 0
  #isOpen = true

  private constructor(path: string, handle: FileHandle) {
    this.#path = path
    this.#handle = handle
  }

  static async make(path: string, { log, force }: NewFileOptions): Promise<NewFile> {
    await checkTarget(path, log, force)
    try {
      // As the log itself, it is for nobody else.
      return new NewFile(path, await open(`${path}.part`, "wx", 0o600))
    } catch (error) {
      throw new CommandFailure(`${path}.part cannot be written: ${errorMessage(error)}`, { cause: error })
    }
  }

  async write(text: string): Promise<void> {
    this.#waiting.push(text)
    this.#length += text.length
    if (this.#length >= BUFFER_CHARACTERS) await this.#flush()
  }

  /** Gives it its name. */
  async keep(): Promise<void> {
    await this.#flush()
    await this.#handle.sync()
    await this.#close()
    await rename(`${this.#path}.part`, this.#path)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isOpen) return
    await this.#close()
    await rm(`${this.#path}.part`, { force: true })
  }

  async #flush(): Promise<void> {
    const text = this.#waiting.join("")
    this.#waiting = []
    this.#length = 0
    await this.#handle.appendFile(text)
  }

  async #close(): Promise<void> {
    this.#isOpen = false
    await this.#handle.close()
  }
}

async function checkTarget(path: string, log: string, force = false): Promise<void> {
  const found = await stat(path).catch(() => undefined)
  if (!found) return
  for (const file of [...(await auditFiles(log)), `${log}.head`]) {
    const own = await stat(file).catch(() => undefined)
    if (own?.ino === found.ino && own.dev === found.dev) {
      throw new CommandFailure(`${path} is a file of the log itself.`, { exitCode: EXIT_USAGE })
    }
  }
  if (!force || !found.isFile()) {
    throw new CommandFailure(`${path} is there already${found.isFile() ? "; --force replaces it" : ""}.`)
  }
}
