import { ERRNO, FileError } from "./errno.mjs"

const PAGE = 4096
const LONGEST_NAME = 255
const LONGEST_TARGET = 4095
// Names are not counted as content, and have a bound of their own: a share of it.
const NAMES_SHARE = 8
const LEAST_NAMES = 64 * 1024
const MOST_NAMES = 64 * 1024 ** 2
// For what the host puts, so that a program that has filled everything does not keep the next one from coming.
const RESERVED_PAGES = 256
const RESERVED_NODES = 256
const RESERVED_NAMES = 64 * 1024
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
  #nameBytesLeft
  #longestFile
  /** Whether a bound was met since someone set it to false. */
  wasFull = false

  /** @param {{ maxBytes: number, maxFiles: number }} limits */
  constructor({ maxBytes, maxFiles }) {
    this.#pagesLeft = Math.floor(maxBytes / PAGE)
    this.#nodesLeft = maxFiles
    this.#nameBytesLeft = Math.min(MOST_NAMES, Math.max(LEAST_NAMES, Math.floor(maxBytes / NAMES_SHARE)))
    this.#longestFile = this.#pagesLeft * PAGE
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
    const bytes = Buffer.from(source, "utf8")
    for (let at = 0; at < bytes.length; at += PAGE) {
      const page = new Uint8Array(PAGE)
      page.set(bytes.subarray(at, at + PAGE))
      file.pages.set(at / PAGE, page)
    }
    file.size = bytes.length
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

  createFile(at, name, mode = 0o644, isHosts = false) {
    const made = Object.assign(node(KIND.FILE, mode), { size: 0, pages: new Map() })
    return this.#enter(at, name, made, isHosts)
  }

  createFolder(at, name, isHosts = false) {
    return this.#enter(at, name, folder(at), isHosts)
  }

  createLink(at, name, target) {
    if (target === "" || target.length > LONGEST_TARGET) throw new FileError(ERRNO.NAMETOOLONG)
    return this.#enter(at, name, Object.assign(node(KIND.LINK, 0o777), { target }))
  }

  /** A second name for a file. */
  addName(at, name, file) {
    if (file.kind === KIND.FOLDER || file.kind === KIND.DEVICE || file.isFixed) {
      throw new FileError(ERRNO.PERM)
    }
    this.#enter(at, name, file)
    file.links += 1
    // A target is there once, whatever names its link has.
    this.#nameBytesLeft += file.target?.length ?? 0
  }

  unlink(at, name) {
    checkWritable(at)
    const found = at.entries.get(name)
    if (!found) throw new FileError(ERRNO.NOENT)
    if (found.kind === KIND.FOLDER) throw new FileError(ERRNO.ISDIR)
    this.#dropName(at, name, found)
  }

  removeFolder(at, name) {
    checkWritable(at)
    const found = at.entries.get(name)
    if (!found) throw new FileError(ERRNO.NOENT)
    if (found.kind !== KIND.FOLDER) throw new FileError(ERRNO.NOTDIR)
    if (found.entries.size > 0) throw new FileError(ERRNO.NOTEMPTY)
    this.#dropName(at, name, found)
  }

  rename(from, oldName, to, newName) {
    checkWritable(from)
    checkWritable(to)
    const moved = from.entries.get(oldName)
    if (!moved) throw new FileError(ERRNO.NOENT)
    const replaced = to.entries.get(newName)
    if (replaced === moved) return
    checkTakesNames(to, newName)
    const growth = newName.length - oldName.length
    if (growth > 0 && growth > this.#nameBytesLeft) this.#refuseAsFull()
    if (moved.kind === KIND.FOLDER) {
      for (let above = to; ; above = above.parent) {
        if (above === moved) throw new FileError(ERRNO.INVAL)
        if (above === above.parent) break
      }
      if (replaced) this.removeFolder(to, newName)
      moved.parent = to
    } else if (replaced) this.unlink(to, newName)
    from.entries.delete(oldName)
    to.entries.set(copied(newName), moved)
    this.#nameBytesLeft -= growth
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
  write(file, position, bytes, isHosts = false) {
    const reserved = isHosts ? RESERVED_PAGES : 0
    const longest = this.#longestFile + reserved * PAGE
    if (position > longest) throw new FileError(ERRNO.FBIG)
    const end = Math.min(bytes.length, longest - position)
    let at = 0
    while (at < end) {
      const number = Math.floor((position + at) / PAGE)
      let page = file.pages.get(number)
      if (!page) {
        if (this.#pagesLeft <= -reserved) break
        this.#pagesLeft -= 1
        page = new Uint8Array(PAGE)
        file.pages.set(number, page)
      }
      const within = (position + at) % PAGE
      const count = Math.min(PAGE - within, end - at)
      page.set(bytes.subarray(at, at + count), within)
      at += count
    }
    if (at > 0) this.#written(file, Math.max(file.size, position + at))
    if (at < bytes.length) this.wasFull = true
    if (at === 0 && bytes.length > 0) throw new FileError(ERRNO.NOSPC)
    return at
  }

  resize(file, size) {
    if (size > this.#longestFile) throw new FileError(ERRNO.FBIG)
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

  // Each name counts, and its bytes; of a link the target too.
  #enter(at, name, made, isHosts = false) {
    checkWritable(at)
    checkTakesNames(at, name)
    if (at.entries.has(name)) throw new FileError(ERRNO.EXIST)
    const bytes = name.length + (made.target?.length ?? 0)
    if (this.#nodesLeft <= (isHosts ? -RESERVED_NODES : 0)) this.#refuseAsFull()
    if (this.#nameBytesLeft + (isHosts ? RESERVED_NAMES : 0) < bytes) this.#refuseAsFull()
    this.#nodesLeft -= 1
    this.#nameBytesLeft -= bytes
    at.entries.set(copied(name), made)
    touch(at)
    return made
  }

  #refuseAsFull() {
    this.wasFull = true
    throw new FileError(ERRNO.NOSPC)
  }

  #dropName(at, name, dropped) {
    at.entries.delete(name)
    touch(at)
    this.#nameBytesLeft += name.length
    dropped.links -= 1
    // The last name's place is given back with the file itself, which someone may have open.
    if (dropped.links > 0) this.#nodesLeft += 1
    this.#forget(dropped)
  }

  #forget(gone) {
    if (gone.links > 0 || gone.opens > 0) return
    this.#nodesLeft += 1
    this.#nameBytesLeft += gone.target?.length ?? 0
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

// A part of a path keeps all of the path in memory.
function copied(name) {
  return Buffer.from(name, "latin1").toString("latin1")
}

function checkTakesNames(at, name) {
  if (name.length > LONGEST_NAME) throw new FileError(ERRNO.NAMETOOLONG)
  // A folder that was removed while it was open takes nothing more.
  if (at.links === 0) throw new FileError(ERRNO.NOENT)
}

function checkWritable(at) {
  if (at.isFixed) throw new FileError(ERRNO.ROFS)
}

function touch(touched) {
  touched.modified = Date.now()
  touched.changed = touched.modified
}
