import { ERRNO } from "./errno.mjs"
import { KIND } from "./memory-files.mjs"
import { CALL_BYTES } from "./shared-call.mjs"

const ROOT = 3
const NAMES = {
  [ERRNO.BADF]: "EBADF",
  [ERRNO.BUSY]: "EBUSY",
  [ERRNO.EXIST]: "EEXIST",
  [ERRNO.FBIG]: "EFBIG",
  [ERRNO.INVAL]: "EINVAL",
  [ERRNO.ISDIR]: "EISDIR",
  [ERRNO.LOOP]: "ELOOP",
  [ERRNO.NAMETOOLONG]: "ENAMETOOLONG",
  [ERRNO.NOENT]: "ENOENT",
  [ERRNO.NOSPC]: "ENOSPC",
  [ERRNO.NOTDIR]: "ENOTDIR",
  [ERRNO.NOTEMPTY]: "ENOTEMPTY",
  [ERRNO.ROFS]: "EROFS",
}

/** What a call on files failed with, as programs know it. */
export class GuestFileError extends Error {
  /** @param {number} errno */
  constructor(errno) {
    super(NAMES[errno] ?? "EIO")
  }

  /** @param {string} name */
  static named(name) {
    return Object.assign(new GuestFileError(0), { message: name })
  }
}

/** Whole files for a guest that has no WASI; paths are relative to the workspace. */
export class GuestFiles {
  #call

  /** @param {import("./shared-call.mjs").CallingEnd} call */
  constructor(call) {
    this.#call = call
  }

  /** How many bytes there are to read. */
  size(path) {
    const [kind, size] = this.describe(path)
    if (kind === KIND.FOLDER) throw new GuestFileError(ERRNO.ISDIR)
    return size
  }

  /** Fills the target from a place of the file; tells how much there was. */
  readInto(path, at, target) {
    return this.#opened(path, [1, 0, 0, 1, 0], (fd) => {
      this.#do("read", [fd, Math.min(target.length, CALL_BYTES), Math.max(0, Math.floor(at))])
      const count = this.#call.numbers[0]
      target.set(this.#call.data.subarray(0, count))
      return count
    })
  }

  /** A file as a whole; one that is longer than this is refused. */
  read(path, most) {
    const size = this.size(path)
    if (size > most) throw new GuestFileError(ERRNO.FBIG)
    const bytes = Buffer.alloc(size)
    for (let at = 0; at < size;) {
      const count = this.readInto(path, at, bytes.subarray(at))
      if (count === 0) return bytes.subarray(0, at)
      at += count
    }
    return bytes
  }

  write(path, bytes, appends) {
    this.#opened(path, [1, appends ? 1 : 9, appends ? 1 : 0, 0, 1], (fd) => {
      for (let at = 0; at < bytes.length;) {
        this.#do("write", [fd, -1], bytes.subarray(at, at + CALL_BYTES))
        at += this.#call.numbers[0]
      }
    })
  }

  /** Its kind and size. */
  describe(path, follows = true) {
    this.#do("describePath", [ROOT, follows ? 1 : 0], placed(path))
    return [this.#call.numbers[0], this.#call.numbers[3]]
  }

  /** Names from a place of the list on, as many as one answer holds; `.` and `..` are among them. */
  list(path, from) {
    return this.#opened(path, [1, 2, 0, 1, 0], (fd) => {
      this.#do("list", [fd, Math.max(0, Math.floor(from)), CALL_BYTES])
      return entries(Buffer.from(this.#call.data.slice(0, this.#call.numbers[0])))
    })
  }

  makeFolder(path) {
    this.#do("makeFolder", [ROOT], placed(path))
  }

  remove(path, isFolder) {
    this.#do(isFolder ? "removeFolder" : "removeFile", [ROOT], placed(path))
  }

  rename(from, to) {
    const [old, next] = [placed(from), placed(to)]
    this.#do("rename", [ROOT, ROOT, old.length], Buffer.concat([old, next]))
  }

  /** Its kind, or 0 where there is nothing. */
  kind(path, follows = true) {
    try {
      return this.describe(path, follows)[0]
    } catch {
      return 0
    }
  }

  isFile(path) {
    return this.kind(path) === KIND.FILE
  }

  #opened(path, numbers, use) {
    this.#do("open", [ROOT, ...numbers], placed(path))
    const fd = this.#call.numbers[0]
    try {
      return use(fd)
    } finally {
      this.#call.call("close", [fd])
    }
  }

  #do(name, numbers, data) {
    const errno = this.#call.call(name, numbers, data)
    if (errno !== ERRNO.SUCCESS) throw new GuestFileError(errno)
  }
}

function placed(path) {
  const bytes = Buffer.from(path.startsWith("/") ? path.slice(1) || "." : `workspace/${path}`, "utf8")
  if (bytes.length > CALL_BYTES / 2) throw new GuestFileError(ERRNO.NAMETOOLONG)
  return bytes
}

function entries(bytes) {
  const names = []
  for (let at = 0; at + 24 <= bytes.length;) {
    const end = at + 24 + bytes.readUInt32LE(at + 16)
    if (end > bytes.length) break
    names.push(bytes.toString("utf8", at + 24, end))
    at = end
  }
  return names
}
