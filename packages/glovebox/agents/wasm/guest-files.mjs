import { ERRNO } from "./errno.mjs"
import { KIND } from "./memory-files.mjs"
import { CALL_BYTES } from "./shared-call.mjs"

const ROOT = 3
const NAMES = {
  [ERRNO.BADF]: "EBADF",
  [ERRNO.BUSY]: "EBUSY",
  [ERRNO.EXIST]: "EEXIST",
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
}

/** Whole files for a guest that has no WASI; paths are relative to the workspace. */
export class GuestFiles {
  #call

  /** @param {import("./shared-call.mjs").CallingEnd} call */
  constructor(call) {
    this.#call = call
  }

  read(path) {
    return this.#opened(path, [1, 0, 0, 1, 0], (fd) => {
      const parts = []
      while (true) {
        this.#do("read", [fd, CALL_BYTES, -1])
        const count = this.#call.numbers[0]
        parts.push(Buffer.from(this.#call.data.slice(0, count)))
        if (count < CALL_BYTES) return Buffer.concat(parts)
      }
    })
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
  describe(path) {
    this.#do("describePath", [ROOT, 1], placed(path))
    return [this.#call.numbers[0], this.#call.numbers[3]]
  }

  list(path) {
    return this.#opened(path, [1, 2, 0, 1, 0], (fd) => {
      const names = []
      while (true) {
        this.#do("list", [fd, names.length, CALL_BYTES])
        const used = this.#call.numbers[0]
        const before = names.length
        names.push(...entries(Buffer.from(this.#call.data.slice(0, used))))
        if (names.length === before)
          return names.filter((name) => name !== "." && name !== "..").toSorted(byText)
      }
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
  kind(path) {
    try {
      return this.describe(path)[0]
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

function byText(a, b) {
  if (a === b) return 0
  return a < b ? -1 : 1
}
