import { ERRNO, FileError } from "./errno.mjs"
import { KIND } from "./memory-files.mjs"

const READ_BYTES = 64 * 1024
// The host takes no longer path, and has no use for one.
const LONGEST_PATH = 1024
const TOO_LONG = Symbol("too long")
// Of all paths that are remembered.
const MOST_PATH_BYTES = 64 * 1024 ** 2
const UTF8 = new TextDecoder("utf-8", { fatal: true })

/** The workspace as the host sees it: puts files, removes them, asks what changed. */
export class Workspace {
  #files
  #incoming
  // By path: the file as the host knows it, and when it was seen last.
  #known = new Map()
  #pathBytes = 0
  #round = 0

  /** @param {import("./memory-files.mjs").MemoryFiles} files */
  constructor(files) {
    this.#files = files
  }

  /** Begins a file; a link in its place, or in the place of a folder above it, is never followed. */
  put({ path, mode, size }, first) {
    this.#incoming = { path, left: size, at: 0, file: undefined }
    const { folder, name } = this.#place(path)
    const old = folder.entries.get(name)
    if (old?.kind === KIND.FOLDER) throw new FileError(ERRNO.ISDIR)
    if (old) this.#files.unlink(folder, name)
    this.#incoming.file = this.#files.createFile(folder, name, mode & 0o777, true)
    this.more(first)
  }

  /** Goes on with the file; after a failure the rest of it is dropped. */
  more(bytes) {
    const incoming = this.#incoming
    if (!incoming?.file) return
    for (let done = 0; done < bytes.length;) {
      done += this.#files.write(incoming.file, incoming.at + done, bytes.subarray(done), true)
    }
    incoming.at += bytes.length
    incoming.left -= bytes.length
    if (incoming.left <= 0) this.#settle(incoming)
  }

  /** The path of the file that could not be put; nothing of it is left. */
  failed() {
    const { path, file } = this.#incoming
    this.#incoming.file = undefined
    if (file) this.remove(path)
    return path
  }

  remove(path) {
    try {
      const { folder, name } = this.#place(path, false)
      this.#files.unlink(folder, name)
    } catch (error) {
      if (!(error instanceof FileError)) throw error
    }
    this.#forget(path)
  }

  /** What changed since it was put or last asked for: first the files, then the paths that are gone, then the sum. */
  *changes({ maxFiles, maxBytes }) {
    this.#round += 1
    const sum = { files: 0, bytes: 0, skipped: 0, over: false }
    for (const { path, node } of this.#walk()) {
      if (path === undefined || node.kind !== KIND.FILE) {
        sum.skipped += 1
        continue
      }
      if (path === TOO_LONG) {
        sum.skipped += 1
        sum.over = true
        continue
      }
      const known = this.#known.get(path)
      if (known) known.round = this.#round
      const mark = markOf(node)
      if (known?.mark === mark) continue
      if (sum.files >= maxFiles || sum.bytes + node.size > maxBytes || !this.#remember(path, mark)) {
        sum.over = true
        continue
      }
      sum.files += 1
      sum.bytes += node.size
      yield { type: "file", path, size: node.size, mode: node.mode, parts: this.#parts(node) }
    }
    for (const [path, { round }] of this.#known) {
      if (round === this.#round) continue
      this.#forget(path)
      yield { type: "gone", path }
    }
    yield { type: "end", sum }
  }

  *#parts(node) {
    for (let at = 0; at < node.size; at += READ_BYTES) {
      const part = new Uint8Array(Math.min(READ_BYTES, node.size - at))
      this.#files.read(node, at, part)
      yield part
    }
  }

  // Without recursion: a tree can be deeper than the stack.
  *#walk() {
    const waiting = [{ above: "", name: "", node: this.#files.workspace }]
    while (waiting.length > 0) {
      const { above, name, node } = waiting.pop()
      const path = joined(above, name)
      if (node.kind !== KIND.FOLDER) {
        yield { path, node }
        continue
      }
      const names = [...node.entries.keys()].toSorted(byText).toReversed()
      for (const each of names) waiting.push({ above: path, name: each, node: node.entries.get(each) })
    }
  }

  #remember(path, mark) {
    const isNew = !this.#known.has(path)
    if (isNew && this.#pathBytes + path.length > MOST_PATH_BYTES) return false
    if (isNew) this.#pathBytes += path.length
    this.#known.set(path, { mark, round: this.#round })
    return true
  }

  #forget(path) {
    if (this.#known.delete(path)) this.#pathBytes -= path.length
  }

  #place(path, makes = true) {
    const parts = Buffer.from(path, "utf8").toString("latin1").split("/")
    const name = parts.pop()
    let at = this.#files.workspace
    for (const part of parts) {
      const next = at.entries.get(part) ?? (makes ? this.#files.createFolder(at, part, true) : undefined)
      if (next?.kind !== KIND.FOLDER) throw new FileError(ERRNO.NOTDIR)
      at = next
    }
    return { folder: at, name }
  }

  #settle({ path, file }) {
    this.#remember(path, markOf(file))
  }
}

function markOf({ ino, version, mode }) {
  return `${ino} ${version} ${mode & 0o100}`
}

// Undefined for a name that is not UTF-8, TOO_LONG for one that is that; and so for all below it.
function joined(path, name) {
  if (path === undefined || path === TOO_LONG) return path
  try {
    const text = UTF8.decode(Buffer.from(name, "latin1"))
    const whole = path === "" ? text : `${path}/${text}`
    return Buffer.byteLength(whole) > LONGEST_PATH ? TOO_LONG : whole
  } catch {
    return undefined
  }
}

function byText(a, b) {
  if (a === b) return 0
  return a < b ? -1 : 1
}
