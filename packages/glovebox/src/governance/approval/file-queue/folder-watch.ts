import { type FSWatcher, watch } from "node:fs"
import { watchAbort } from "../../../internal/watch-abort.ts"

/** Tells that something in a folder may have changed: at once where the system says so, and now and then anyway. */
export class FolderWatch {
  readonly #pollMs: number
  readonly #watcher: FSWatcher | undefined
  #hasChanged = false
  #wake: () => void = () => {}

  constructor(path: string, pollMs: number) {
    this.#pollMs = pollMs
    this.#watcher = watcherOf(path, () => {
      this.#hasChanged = true
      this.#wake()
    })
  }

  /** Waits for a change since the last one that was told of. */
  async next(signal: AbortSignal): Promise<void> {
    if (!this.#hasChanged) await this.#wait(signal)
    this.#hasChanged = false
  }

  close(): void {
    this.#watcher?.close()
  }

  async #wait(signal: AbortSignal): Promise<void> {
    const ends: (() => void)[] = []
    try {
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(resolve, this.#pollMs)
        this.#wake = resolve
        ends.push(() => clearTimeout(timer), watchAbort(signal, reject))
      })
    } finally {
      for (const end of ends) end()
      this.#wake = () => {}
    }
  }
}

// Some systems have no more watches to give, and some file systems none at all: then it is looked at now and then.
function watcherOf(path: string, onChange: () => void): FSWatcher | undefined {
  try {
    return watch(path, onChange).on("error", () => {})
  } catch {
    return undefined
  }
}
