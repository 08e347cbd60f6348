import type { WorkspaceFile } from "../workspace-file.ts"
import { workspacePath } from "../workspace-path.ts"
import { type Answer, readAnswer } from "./agent-answers.ts"
import { broken } from "./agent-frames.ts"
import type { Collected, CollectLimits } from "./sandbox-agent.ts"

interface Incoming {
  readonly path: string | undefined
  readonly content: Buffer
  readonly executable: boolean
  at: number
}

/** Files on their way out of a sandbox, frame by frame; within the limits that were asked for, whoever sends them. */
export class Collection {
  readonly kind = "collect"
  readonly done: (collected: Collected) => void
  readonly fail: (error: Error) => void
  readonly #limits: CollectLimits
  readonly #files: WorkspaceFile[] = []
  readonly #removed: string[] = []
  #bytes = 0
  // The file whose content is coming.
  #open: Incoming | undefined
  // Whether a file had a name that no workspace takes.
  #hasRefused = false

  constructor(limits: CollectLimits, done: (collected: Collected) => void, fail: (error: Error) => void) {
    this.#limits = limits
    this.done = done
    this.fail = fail
  }

  /** All that came, once it has come to its end. */
  take(type: string, payload: Buffer): Collected | undefined {
    if (this.#open) {
      if (type !== "d") throw broken(`a frame "${type}" within a file`)
      this.#onContent(this.#open, payload)
    } else if (type === "f") this.#onFile(readAnswer("f", payload))
    else if (type === "v") this.#onRemoved(readAnswer("v", payload).path)
    else if (type === "c") {
      const { over } = readAnswer("c", payload)
      return { files: this.#files, removed: this.#removed, over: over || this.#hasRefused }
    } else throw broken(`a frame "${type}" while files were collected`)
    return undefined
  }

  #onRemoved(name: string): void {
    if (this.#removed.length >= 10 * this.#limits.maxFiles + 1000) throw broken("too many removed files")
    const path = safePath(name)
    if (path !== undefined) this.#removed.push(path)
  }

  #onFile({ path, size, mode }: Answer<"f">): void {
    this.#bytes += size
    if (this.#files.length >= this.#limits.maxFiles || this.#bytes > this.#limits.maxBytes) {
      throw broken("more files than were asked for")
    }
    this.#open = {
      path: safePath(path),
      content: Buffer.alloc(size),
      executable: (mode & 0o100) !== 0,
      at: 0,
    }
    if (size === 0) this.#close(this.#open)
  }

  #onContent(file: Incoming, payload: Buffer): void {
    if (payload.length === 0 || file.at + payload.length > file.content.length) {
      throw broken("a file longer than it said")
    }
    payload.copy(file.content, file.at)
    file.at += payload.length
    if (file.at === file.content.length) this.#close(file)
  }

  #close({ path, content, executable }: Incoming): void {
    this.#open = undefined
    if (path === undefined) this.#hasRefused = true
    else this.#files.push({ path, content, executable })
  }
}

// A program may name its files as it likes; what no workspace takes stays behind.
function safePath(path: string): string | undefined {
  try {
    return workspacePath(path)
  } catch {
    return undefined
  }
}
