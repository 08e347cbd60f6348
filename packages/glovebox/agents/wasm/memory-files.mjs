import { ERRNO, FileError } from "./errno.mjs"

const PAGE = 4096
const LONGEST_NAME = 255
const LONGEST_TARGET = 4095
const LONGEST_FILE = 2 ** 43
const MOST_LINKS = 40

/** As WASI numbers them. */
export const KIND = { DEVICE: 2, FOLDER: 3, FILE: 4, LINK: 7 }

let lastIno = 0

function node(kind, mode) {
  const now = Date.now()
  lastIno += 1
  return {
    ino: lastIno,
    kind,
    mode,
    links: 1,
    opens: 0,
    version: 0,
    accessed: now,
    modified: now,
    changed: now,
  }
}

function folder(parent, isFixed = false) {
  const made = node(KIND.FOLDER, 0o755)
  return Object.assign(made, { entries: new Map(), parent: parent ?? made, isFixed })
}

/**
 * A file system in memory, with bounds on bytes and files. Names are strings with one character for each byte, so
 * that any bytes are a name. Nothing of the host can be reached: there is no way from here to its files.
 */
export class MemoryFiles {
  #pagesLeft
  #nodesLeft
  /** Whether a bound was met since someone set it to false. */
  wasFull = false

  /** @param {{ maxBytes: number, maxFiles: number }} limits */
  constructor({ maxBytes, maxFiles }) {
    this.#pagesLeft = Math.floor(maxBytes / PAGE)
    this.#nodesLeft = maxFiles
    this.root = folder(undefined, true)
    this.workspace = folder(this.root)
    this.root.entries.set("workspace", this.workspace)
    this.root.entries.set("tmp", folder(this.root))
    const devices = folder(this.root, true)
    this.root.entries.set("dev", devices)
    devices.entries.set("null", node(KIND.DEVICE, 0o666))
  }

  /** Puts a module where programs can import it and not change it. */
  addLibrary(name, source) {
    const above = folder(this.root, true)
    const library = folder(above, true)
    const file = Object.assign(node(KIND.FILE, 0o444), { size: 0, pages: new Map(), isFixed: true })
    this.root.entries.set("lib", above)
    above.entries.set("glovebox", library)
    library.entries.set(name, file)
    this.write(file, 0, Buffer.from(source, "utf8"))
  }

  /**
   * Follows a path from a folder. The last part need not exist; `name` is undefined where it is `.` or `..`.
   * A path cannot leave the root: above it is the root itself.
   */
  walk(from, path, followsLast) {
    if (path === "" || path.includes("\0")) throw new FileError(path === "" ? ERRNO.NOENT : ERRNO.INVAL)
    let at = path.startsWith("/") ? this.root : from
    const parts = partsOf(path)
    let links = 0
    if (parts.length === 0) return { folder: at, name: undefined, node: at }
    while (true) {
      if (at.kind !== KIND.FOLDER) throw new FileError(ERRNO.NOTDIR)
      const part = parts.pop()
      const isLast = parts.length === 0
      if (part === "." || part === "..") {
        if (part === "..") at = at.parent
        if (isLast) return { folder: at, name: undefined, node: at }
        continue
      }
      if (part.length > LONGEST_NAME) throw new FileError(ERRNO.NAMETOOLONG)
      const found = at.entries.get(part)
      if (found?.kind === KIND.LINK && (!isLast || followsLast)) {
        links += 1
        if (links > MOST_LINKS) throw new FileError(ERRNO.LOOP)
        if (found.target.startsWith("/")) at = this.root
        parts.push(...partsOf(found.target))
        if (parts.length === 0) return { folder: at, name: undefined, node: at }
        continue
      }
      if (isLast) return { folder: at, name: part, node: found }
      if (!found) throw new FileError(ERRNO.NOENT)
      at = found
    }
  }

  /** What is at the end of a path. */
  find(from, path, followsLast) {
    const { node: found } = this.walk(from, path, followsLast)
    if (!found) throw new FileError(ERRNO.NOENT)
    return found
  }

  createFile(at, name, mode = 0o644) {
    return this.#enter(at, name, Object.assign(node(KIND.FILE, mode), { size: 0, pages: new Map() }))
  }

  createFolder(at, name) {
    return this.#enter(at, name, folder(at))
  }

  createLink(at, name, target) {
    if (target === "" || target.length > LONGEST_TARGET) throw new FileError(ERRNO.NAMETOOLONG)
    return this.#enter(at, name, Object.assign(node(KIND.LINK, 0o777), { target }))
  }

  /** A second name for a file. */
  addName(at, name, file) {
    if (file.kind === KIND.FOLDER || file.kind === KIND.DEVICE) throw new FileError(ERRNO.PERM)
    checkWritable(at)
    if (at.entries.has(name)) throw new FileError(ERRNO.EXIST)
    at.entries.set(name, file)
    file.links += 1
    touch(at)
  }

  unlink(at, name) {
    checkWritable(at)
    const found = at.entries.get(name)
    if (!found) throw new FileError(ERRNO.NOENT)
    if (found.kind === KIND.FOLDER) throw new FileError(ERRNO.ISDIR)
    at.entries.delete(name)
    touch(at)
    this.#dropName(found)
  }

  removeFolder(at, name) {
    checkWritable(at)
    const found = at.entries.get(name)
    if (!found) throw new FileError(ERRNO.NOENT)
    if (found.kind !== KIND.FOLDER) throw new FileError(ERRNO.NOTDIR)
    if (found.entries.size > 0) throw new FileError(ERRNO.NOTEMPTY)
    at.entries.delete(name)
    touch(at)
    this.#dropName(found)
  }

  rename(from, oldName, to, newName) {
    checkWritable(from)
    checkWritable(to)
    const moved = from.entries.get(oldName)
    if (!moved) throw new FileError(ERRNO.NOENT)
    const replaced = to.entries.get(newName)
    if (replaced === moved) return
    if (moved.kind === KIND.FOLDER) {
      for (let above = to; ; above = above.parent) {
        if (above === moved) throw new FileError(ERRNO.INVAL)
        if (above === above.parent) break
      }
      if (replaced) this.removeFolder(to, newName)
      moved.parent = to
    } else if (replaced) this.unlink(to, newName)
    from.entries.delete(oldName)
    to.entries.set(newName, moved)
    touch(from)
    touch(to)
  }

  /** Someone has opened it: it stays until it is closed, whatever happens to its name. */
  hold(held) {
    held.opens += 1
  }

  release(held) {
    held.opens -= 1
    this.#forget(held)
  }

  /** Fills the target from a place of the file; tells how much there was. */
  read(file, position, target) {
    const length = Math.max(0, Math.min(target.length, file.size - position))
    for (let at = 0; at < length;) {
      const within = (position + at) % PAGE
      const count = Math.min(PAGE - within, length - at)
      const page = file.pages.get(Math.floor((position + at) / PAGE))
      if (page) target.set(page.subarray(within, within + count), at)
      else target.fill(0, at, at + count)
      at += count
    }
    return length
  }

  /** Writes as much as there is room for, at least one byte, and tells how much that was. */
  write(file, position, bytes) {
    if (position + bytes.length > LONGEST_FILE) throw new FileError(ERRNO.FBIG)
    let at = 0
    while (at < bytes.length) {
      const number = Math.floor((position + at) / PAGE)
      let page = file.pages.get(number)
      if (!page) {
        if (this.#pagesLeft <= 0) break
        this.#pagesLeft -= 1
        page = new Uint8Array(PAGE)
        file.pages.set(number, page)
      }
      const within = (position + at) % PAGE
      const count = Math.min(PAGE - within, bytes.length - at)
      page.set(bytes.subarray(at, at + count), within)
      at += count
    }
    if (at > 0) this.#written(file, Math.max(file.size, position + at))
    if (at < bytes.length) this.wasFull = true
    if (at === 0 && bytes.length > 0) throw new FileError(ERRNO.NOSPC)
    return at
  }

  resize(file, size) {
    if (size > LONGEST_FILE) throw new FileError(ERRNO.FBIG)
    if (size === file.size) return
    if (size < file.size) {
      const kept = Math.ceil(size / PAGE)
      for (const number of file.pages.keys()) {
        if (number < kept) continue
        file.pages.delete(number)
        this.#pagesLeft += 1
      }
      file.pages.get(Math.floor(size / PAGE))?.fill(0, size % PAGE)
    }
    this.#written(file, size)
  }

  #written(file, size) {
    file.size = size
    file.version += 1
    touch(file)
  }

  #enter(at, name, made) {
    checkWritable(at)
    if (name.length > LONGEST_NAME) throw new FileError(ERRNO.NAMETOOLONG)
    if (at.entries.has(name)) throw new FileError(ERRNO.EXIST)
    // A folder that was removed while it was open takes nothing more.
    if (at.links === 0) throw new FileError(ERRNO.NOENT)
    if (this.#nodesLeft <= 0) {
      this.wasFull = true
      throw new FileError(ERRNO.NOSPC)
    }
    this.#nodesLeft -= 1
    at.entries.set(name, made)
    touch(at)
    return made
  }

  #dropName(dropped) {
    dropped.links -= 1
    this.#forget(dropped)
  }

  #forget(gone) {
    if (gone.links > 0 || gone.opens > 0) return
    this.#nodesLeft += 1
    if (gone.kind !== KIND.FILE) return
    this.#pagesLeft += gone.pages.size
    gone.pages.clear()
  }
}

// In reverse, to be taken from the end. A slash at the end means the folder itself.
function partsOf(path) {
  const parts = path.split("/").filter((part) => part !== "")
  if (path.endsWith("/") && parts.length > 0) parts.push(".")
  return parts.toReversed()
}

function checkWritable(at) {
  if (at.isFixed) throw new FileError(ERRNO.ROFS)
}

function touch(touched) {
  touched.modified = Date.now()
  touched.changed = touched.modified
}
