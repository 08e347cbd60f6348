import { ERRNO, FileError } from "./errno.mjs"
import { KIND } from "./memory-files.mjs"

const MOST_OPEN = 1024
// Longer than elsewhere: a folder deep down is named from the root here, wherever the program is.
const LONGEST_PATH = 32 * 1024
const SLASH = 0x2f
const ROOT = 3
const CONTROL = "dev/glovebox"
const CREATE = 1
const FOLDER = 2
const EXCLUSIVE = 4
const TRUNCATE = 8
const APPEND = 1
const MODE_SHIFT = 2 ** 16

/**
 * The open files of one guest, and what it can do with files. Each method takes the numbers and the data of a call and
 * gives the numbers of the answer; data goes into `answer`. A failure is a FileError.
 */
export class OpenFiles {
  #files
  #open = new Map()
  #next = ROOT + 1
  #hasControl = true

  /** @param {import("./memory-files.mjs").MemoryFiles} files */
  constructor(files) {
    this.#files = files
    for (const [fd, stream] of ["stdin", "stdout", "stderr"].entries()) this.#open.set(fd, { stream })
    this.#open.set(ROOT, { node: files.root, position: 0 })
  }

  /** The stream behind a number: stdin, stdout, stderr or control; undefined for a file. */
  streamOf(fd) {
    return this.#open.get(fd)?.stream
  }

  /** Gives back what is held; the guest is gone. */
  closeAll() {
    for (const [fd, { node }] of this.#open) if (node && fd !== ROOT) this.#files.release(node)
    this.#open.clear()
  }

  open([at, followsLast, how, flags, canRead, canWrite], data) {
    if (this.#open.size >= MOST_OPEN) throw new FileError(ERRNO.MFILE)
    const path = pathOf(data)
    const from = this.#folder(at)
    // What runs the code opens it first, and no one after that.
    if (this.#hasControl && from === this.#files.root && path === CONTROL) {
      this.#hasControl = false
      return [this.#enter({ stream: "control" })]
    }
    const { folder, name, node } = this.#files.walk(from, path, followsLast !== 0)
    const opened = node ?? this.#create(folder, name, how)
    if (node && how & EXCLUSIVE && how & CREATE) throw new FileError(ERRNO.EXIST)
    if (opened.kind === KIND.LINK) throw new FileError(ERRNO.LOOP)
    if (how & FOLDER && opened.kind !== KIND.FOLDER) throw new FileError(ERRNO.NOTDIR)
    if (opened.kind === KIND.FOLDER && (canWrite || how & TRUNCATE)) throw new FileError(ERRNO.ISDIR)
    if (opened.isFixed && (canWrite || how & TRUNCATE)) throw new FileError(ERRNO.ROFS)
    if (how & TRUNCATE && opened.kind === KIND.FILE) this.#files.resize(opened, 0)
    this.#files.hold(opened)
    return [
      this.#enter({ node: opened, position: 0, flags, canRead: canRead !== 0, canWrite: canWrite !== 0 }),
    ]
  }

  close([fd]) {
    const file = this.#file(fd)
    // What later blocks need stays, as if it were opened again.
    if (file.stream || fd === ROOT) return []
    this.#open.delete(fd)
    this.#files.release(file.node)
    return []
  }

  /** At its own place, or at one that is given and not -1. */
  read([fd, length, at], _data, answer) {
    const file = this.#file(fd)
    if (file.stream === "stdin") return [0]
    if (file.node?.kind === KIND.FOLDER) throw new FileError(ERRNO.ISDIR)
    if (!file.node || !file.canRead) throw new FileError(ERRNO.BADF)
    if (file.node.kind === KIND.DEVICE) return [0]
    const place = at === -1 ? file.position : at
    const count = this.#files.read(file.node, place, answer.subarray(0, length))
    if (at === -1) file.position += count
    return [count]
  }

  write([fd, at], data) {
    const file = this.#file(fd)
    if (!file.node || !file.canWrite) throw new FileError(ERRNO.BADF)
    if (file.node.kind === KIND.DEVICE) return [data.length]
    const own = file.flags & APPEND ? file.node.size : file.position
    const place = at === -1 ? own : at
    const count = this.#files.write(file.node, place, data)
    if (at === -1) file.position = place + count
    return [count]
  }

  seek([fd, offset, whence]) {
    const file = this.#file(fd)
    if (file.node?.kind !== KIND.FILE) throw new FileError(ERRNO.SPIPE)
    const base = [0, file.position, file.node.size][whence]
    if (base === undefined || !(base + offset >= 0) || !Number.isSafeInteger(base + offset)) {
      throw new FileError(ERRNO.INVAL)
    }
    file.position = base + offset
    return [file.position]
  }

  describe([fd]) {
    const { node, stream, flags = 0 } = this.#file(fd)
    if (stream) return [KIND.DEVICE, 0, 1, 0, 0, 0, 0, flags]
    return [...described(node), flags]
  }

  describePath([at, followsLast], data) {
    return described(this.#files.find(this.#folder(at), pathOf(data), followsLast !== 0))
  }

  setFlags([fd, flags]) {
    this.#file(fd).flags = flags
    return []
  }

  resize([fd, size]) {
    const { node, canWrite } = this.#file(fd)
    if (node?.kind !== KIND.FILE || !canWrite) throw new FileError(ERRNO.INVAL)
    this.#files.resize(node, size)
    return []
  }

  setTimes([fd, accessed, modified]) {
    const { node } = this.#file(fd)
    if (node) setTimes(node, accessed, modified)
    return []
  }

  setPathTimes([at, followsLast, accessed, modified], data) {
    setTimes(this.#files.find(this.#folder(at), pathOf(data), followsLast !== 0), accessed, modified)
    return []
  }

  /** The names from a place of the list on, as WASI writes them, as many as there is room for. */
  list([fd, from, length], _data, answer) {
    const file = this.#file(fd)
    if (file.node?.kind !== KIND.FOLDER) throw new FileError(ERRNO.NOTDIR)
    if (from === 0 || file.listing?.at !== from) file.listing = new Listing(file.node, from)
    const room = Math.min(length, answer.length)
    let used = 0
    while (used < room && file.listing.current) {
      const entry = entryOf(file.listing.at, ...file.listing.current)
      const part = entry.subarray(0, room - used)
      answer.set(part, used)
      used += part.length
      // One that was cut off is asked for again.
      if (part.length === entry.length) file.listing.advance()
    }
    return [used]
  }

  makeFolder([at], data) {
    const { folder, name } = this.#files.walk(this.#folder(at), bare(data), false)
    if (name === undefined) throw new FileError(ERRNO.EXIST)
    this.#files.createFolder(folder, name)
    return []
  }

  removeFolder([at], data) {
    const { folder, name } = this.#named(at, bare(data))
    this.#files.removeFolder(folder, name)
    return []
  }

  removeFile([at], data) {
    const { folder, name } = this.#named(at, pathOf(data))
    this.#files.unlink(folder, name)
    return []
  }

  rename([from, to, split], data) {
    const old = this.#named(from, bare(data.subarray(0, split)))
    const next = this.#named(to, bare(data.subarray(split)))
    this.#files.rename(old.folder, old.name, next.folder, next.name)
    return []
  }

  link([from, followsLast, to, split], data) {
    const file = this.#files.find(this.#folder(from), pathOf(data.subarray(0, split)), followsLast !== 0)
    const { folder, name } = this.#named(to, pathOf(data.subarray(split)))
    this.#files.addName(folder, name, file)
    return []
  }

  makeLink([at, split], data) {
    const { folder, name } = this.#named(at, pathOf(data.subarray(split)))
    this.#files.createLink(folder, name, pathOf(data.subarray(0, split)))
    return []
  }

  readLink([at, length], data, answer) {
    const node = this.#files.find(this.#folder(at), pathOf(data), false)
    if (node.kind !== KIND.LINK) throw new FileError(ERRNO.INVAL)
    const target = Buffer.from(node.target, "latin1").subarray(0, length)
    answer.set(target)
    return [target.length]
  }

  setMode([mode], data) {
    const node = this.#files.find(this.#files.root, pathOf(data), true)
    if (node.isFixed || node.kind === KIND.DEVICE) throw new FileError(ERRNO.ROFS)
    node.mode = mode & 0o777
    node.version += 1
    return []
  }

  #create(folder, name, how) {
    if (!(how & CREATE) || how & FOLDER || name === undefined) throw new FileError(ERRNO.NOENT)
    return this.#files.createFile(folder, name)
  }

  #named(at, path) {
    const found = this.#files.walk(this.#folder(at), path, false)
    if (found.name === undefined) throw new FileError(ERRNO.BUSY)
    return found
  }

  #file(fd) {
    const file = this.#open.get(fd)
    if (!file) throw new FileError(ERRNO.BADF)
    return file
  }

  #folder(fd) {
    const { node } = this.#file(fd)
    if (node?.kind !== KIND.FOLDER) throw new FileError(ERRNO.NOTDIR)
    return node
  }

  #enter(file) {
    while (this.#open.has(this.#next)) this.#next = this.#next >= 4096 ? ROOT + 1 : this.#next + 1
    this.#open.set(this.#next, file)
    return this.#next
  }
}

/** Goes through a folder's names without a copy of them; those that come meanwhile are at its end. */
class Listing {
  #entries
  at = 0
  current

  constructor(folder, from) {
    this.#entries = entriesOf(folder)
    this.current = this.#entries.next().value
    while (this.at < from && this.current) this.advance()
    this.at = from
  }

  advance() {
    this.at += 1
    this.current = this.#entries.next().value
  }
}

function* entriesOf(folder) {
  yield [".", folder]
  yield ["..", folder.parent]
  yield* folder.entries
}

function entryOf(number, name, node) {
  const entry = Buffer.alloc(24 + name.length)
  entry.writeBigUInt64LE(BigInt(number + 1), 0)
  entry.writeBigUInt64LE(BigInt(node.ino), 8)
  entry.writeUInt32LE(name.length, 16)
  entry.writeUInt8(node.kind, 20)
  entry.write(name, 24, "latin1")
  return entry
}

function pathOf(data) {
  if (data.length > LONGEST_PATH) throw new FileError(ERRNO.NAMETOOLONG)
  return Buffer.from(data.buffer, data.byteOffset, data.length).toString("latin1")
}

// A folder's path may end in a slash.
function bare(data) {
  const path = pathOf(data)
  let length = path.length
  while (length > 1 && path.charCodeAt(length - 1) === SLASH) length -= 1
  return path.slice(0, length)
}

// WASI has no permissions: they travel in the upper half of the number of links, where no program looks.
function described(node) {
  const size = node.kind === KIND.FILE ? node.size : (node.target?.length ?? 0)
  const links = node.links + node.mode * MODE_SHIFT
  return [node.kind, node.ino, links, size, node.accessed, node.modified, node.changed]
}

function setTimes(node, accessed, modified) {
  const now = Date.now()
  if (accessed !== -1) node.accessed = accessed === -2 ? now : accessed
  if (modified !== -1) node.modified = modified === -2 ? now : modified
  node.changed = now
}
