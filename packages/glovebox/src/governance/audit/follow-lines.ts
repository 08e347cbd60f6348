import { watch } from "node:fs"
import { type FileHandle, stat } from "node:fs/promises"
import { dirname } from "node:path"
import { watchAbort } from "../../internal/watch-abort.ts"
import { auditFiles } from "./audit-files.ts"
import { type OpenFile, openIfThere } from "./open-files.ts"
import { type AuditLine, LineCutter, readChunks } from "./read-lines.ts"

// Some file systems tell nothing of changes.
const LOOK_AGAIN_MS = 1_000

/** The lines of a log, and then those that are written, over all its files; until aborted. */
export async function* followLines(
  path: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<AuditLine | "caught-up", void> {
  using changes = new Changes(dirname(path))
  let handle: FileHandle | undefined
  let next: OpenFile | undefined
  let cutter = new LineCutter(path)
  let position = { offset: 0 }
  let isCaughtUp = false
  try {
    for (;;) {
      // Asked before reading: what is written after that is a change.
      const changed = changes.next(signal)
      changed.catch(() => {})
      next = await openAfter(path, handle)
      if (handle) for await (const chunk of readChunks(handle, position, signal)) yield* cutter.cut(chunk)
      if (next !== undefined) {
        // It was there before the last read, so what is read now is whole.
        await handle?.close()
        handle = next.handle
        cutter = new LineCutter(next.path)
        position = { offset: 0 }
        next = undefined
        continue
      }
      if (!isCaughtUp) yield "caught-up"
      isCaughtUp = true
      await changed
    }
  } finally {
    await handle?.close()
    await next?.handle.close()
  }
}

/** Opens the file after the one that is read, if there is one. */
async function openAfter(path: string, handle: FileHandle | undefined): Promise<OpenFile | undefined> {
  for (;;) {
    const next = await fileAfter(path, handle)
    if (next === undefined) return undefined
    const opened = await openIfThere(next)
    if (!opened) continue
    // Between the look and the opening another file may have come into its place.
    const again = await fileAfter(path, handle)
    if (again !== undefined && (await inodeOf(again)) === (await opened.stat()).ino) {
      return { path: again, handle: opened }
    }
    await opened.close()
  }
}

/** The file after the one that is read, if there is one. Names change when files are full, so it is found by its inode. */
async function fileAfter(path: string, handle: FileHandle | undefined): Promise<string | undefined> {
  const files = await auditFiles(path)
  if (!handle) return files[0]
  const { ino } = await handle.stat()
  for (const [index, file] of files.entries()) {
    if ((await inodeOf(file)) === ino) return files[index + 1]
  }
  return undefined
}

async function inodeOf(path: string): Promise<number | undefined> {
  return (await stat(path).catch(() => undefined))?.ino
}

/** Says when something in a folder changed. */
class Changes implements Disposable {
  readonly #close: () => void
  #waiting: (() => void)[] = []

  constructor(folder: string) {
    const tell = (): void => {
      for (const resolve of this.#waiting.splice(0)) resolve()
    }
    const timer = setInterval(tell, LOOK_AGAIN_MS)
    let watcher: ReturnType<typeof watch> | undefined
    try {
      watcher = watch(folder, tell)
      watcher.on("error", () => {})
    } catch {
      // The timer is enough.
    }
    this.#close = () => {
      clearInterval(timer)
      watcher?.close()
      // Nobody waits any more; what they watch is let go.
      tell()
    }
  }

  next(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const unwatch = signal && watchAbort(signal, reject)
      this.#waiting.push(() => {
        unwatch?.()
        resolve()
      })
    })
  }

  [Symbol.dispose](): void {
    this.#close()
  }
}
