import { randomFillSync } from "node:crypto"
import { ERRNO } from "./errno.mjs"
import { CALL_BYTES } from "./shared-call.mjs"

const ALL_RIGHTS = 0x1fffffffn
const CAN_READ = 1n << 1n
const CAN_WRITE = 1n << 6n
const MOST_POLLED = 1024
const MOST_VECTORS = 1024
const LONGEST_RANDOM = 65_536

/** Thrown out of the guest's code when it ends itself. */
export class GuestExit extends Error {
  /** @param {number} code */
  constructor(code) {
    super(`exit ${code}`)
    this.code = code
  }
}

/**
 * The functions of WASI (preview 1) for one instance. A guest is hostile: every place in its memory that it names is
 * checked, by the bounds of the views that are made of it, and what is outside is an error of the call.
 *
 * @param {{ call: import("./shared-call.mjs").CallingEnd, args: string[], env: Record<string, string>, memory: () => WebAssembly.Memory }} options
 */
export function wasiFunctions({ call, args, env, memory }) {
  const view = () => new DataView(memory().buffer)
  const bytes = (at, length) => new Uint8Array(memory().buffer, at >>> 0, length >>> 0)
  const sleeping = new Int32Array(new SharedArrayBuffer(4))
  const begun = process.hrtime.bigint()

  const pathOf = (at, length) => {
    if (length >>> 0 > CALL_BYTES / 2) return undefined
    // A copy: the guest's memory may be of a kind that the shared one cannot take.
    return bytes(at, length).slice()
  }
  const onPath = (name, numbers, at, length) => {
    const path = pathOf(at, length)
    return path ? call.call(name, numbers, path) : ERRNO.NAMETOOLONG
  }
  const onPaths = (name, numbers, first, second) => {
    if (!first || !second) return ERRNO.NAMETOOLONG
    return call.call(name, [...numbers, first.length], Buffer.concat([first, second]))
  }
  const vectors = (at, count) => {
    if (count >>> 0 > MOST_VECTORS) return undefined
    const memoryView = view()
    return Array.from({ length: count >>> 0 }, (_, index) => {
      const entry = (at >>> 0) + index * 8
      return bytes(memoryView.getUint32(entry, true), memoryView.getUint32(entry + 4, true))
    })
  }

  const readInto = (fd, iovs, count, place, result) => {
    const buffers = vectors(iovs, count)
    if (!buffers) return ERRNO.INVAL
    let total = 0
    for (const buffer of buffers) {
      for (let at = 0; at < buffer.length; ) {
        const wanted = Math.min(buffer.length - at, CALL_BYTES)
        const errno = call.call("read", [fd, wanted, place === -1 ? -1 : place + total])
        if (errno !== ERRNO.SUCCESS) {
          if (total === 0) return errno
          view().setUint32(result >>> 0, total, true)
          return ERRNO.SUCCESS
        }
        const got = Math.min(call.numbers[0], wanted)
        buffer.set(call.data.subarray(0, got), at)
        at += got
        total += got
        if (got < wanted) {
          view().setUint32(result >>> 0, total, true)
          return ERRNO.SUCCESS
        }
      }
    }
    view().setUint32(result >>> 0, total, true)
    return ERRNO.SUCCESS
  }

  const writeFrom = (fd, iovs, count, place, result) => {
    const buffers = vectors(iovs, count)
    if (!buffers) return ERRNO.INVAL
    let total = 0
    for (const buffer of buffers) {
      for (let at = 0; at < buffer.length; ) {
        const piece = buffer.subarray(at, at + CALL_BYTES)
        const errno = call.call("write", [fd, place === -1 ? -1 : place + total], piece)
        if (errno !== ERRNO.SUCCESS) {
          if (total === 0) return errno
          view().setUint32(result >>> 0, total, true)
          return ERRNO.SUCCESS
        }
        const done = Math.min(call.numbers[0], piece.length)
        at += done
        total += done
        if (done < piece.length) {
          view().setUint32(result >>> 0, total, true)
          return ERRNO.SUCCESS
        }
      }
    }
    view().setUint32(result >>> 0, total, true)
    return ERRNO.SUCCESS
  }

  const strings = (list, at, buffer) => {
    const memoryView = view()
    let next = buffer >>> 0
    for (const [index, item] of list.entries()) {
      memoryView.setUint32((at >>> 0) + index * 4, next, true)
      const encoded = Buffer.from(`${item}\0`, "utf8")
      bytes(next, encoded.length).set(encoded)
      next += encoded.length
    }
    return ERRNO.SUCCESS
  }
  const sizes = (list, count, size) => {
    const memoryView = view()
    memoryView.setUint32(count >>> 0, list.length, true)
    memoryView.setUint32(size >>> 0, list.reduce((sum, item) => sum + Buffer.byteLength(item) + 1, 0), true)
    return ERRNO.SUCCESS
  }

  const writeDescription = (errno, at) => {
    if (errno !== ERRNO.SUCCESS) return errno
    const [kind, ino, links, size, accessed, modified, changed] = call.numbers
    bytes(at, 64).fill(0)
    const memoryView = view()
    const start = at >>> 0
    memoryView.setBigUint64(start, 1n, true)
    memoryView.setBigUint64(start + 8, BigInt(ino), true)
    memoryView.setUint8(start + 16, kind)
    memoryView.setBigUint64(start + 24, BigInt(links), true)
    memoryView.setBigUint64(start + 32, BigInt(size), true)
    for (const [index, time] of [accessed, modified, changed].entries()) {
      memoryView.setBigUint64(start + 40 + index * 8, BigInt(Math.max(0, Math.round(time * 1000))) * 1000n, true)
    }
    return ERRNO.SUCCESS
  }

  const clock = (id) => {
    if (id === 0) return BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000)) * 1000n
    if (id === 1) return process.hrtime.bigint()
    return process.hrtime.bigint() - begun
  }
  const sleep = (nanoseconds) => {
    for (let left = Number(nanoseconds) / 1e6; left > 0; left -= 3_600_000) {
      Atomics.wait(sleeping, 0, 0, Math.min(left, 3_600_000))
    }
  }

  // -1 leaves the time, -2 is now.
  const timeOf = (value, flags, set, now) => (flags & now ? -2 : flags & set ? Number(value) / 1e6 : -1)
  const place = (offset) => (offset > 2n ** 52n || offset < 0n ? undefined : Number(offset))

  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  const notSupported = () => ERRNO.NOTSUP
  const nothing = () => ERRNO.SUCCESS

  const functions = {
    args_get: (at, buffer) => strings(args, at, buffer),
    args_sizes_get: (count, size) => sizes(args, count, size),
    environ_get: (at, buffer) => strings(variables, at, buffer),
    environ_sizes_get: (count, size) => sizes(variables, count, size),
    clock_res_get: (_id, at) => {
      view().setBigUint64(at >>> 0, 1000n, true)
      return ERRNO.SUCCESS
    },
    clock_time_get: (id, _precision, at) => {
      view().setBigUint64(at >>> 0, clock(id), true)
      return ERRNO.SUCCESS
    },
    random_get: (at, length) => {
      const target = bytes(at, length)
      for (let done = 0; done < target.length; done += LONGEST_RANDOM) {
        randomFillSync(target.subarray(done, done + LONGEST_RANDOM))
      }
      return ERRNO.SUCCESS
    },
    sched_yield: nothing,
    proc_exit: (code) => {
      throw new GuestExit(code & 0xff)
    },

    fd_advise: nothing,
    fd_datasync: nothing,
    fd_sync: nothing,
    fd_allocate: (fd, offset, length) => {
      const errno = call.call("describe", [fd])
      if (errno !== ERRNO.SUCCESS) return errno
      const end = place(offset + length)
      if (end === undefined) return ERRNO.INVAL
      return end > call.numbers[3] ? call.call("resize", [fd, end]) : ERRNO.SUCCESS
    },
    fd_close: (fd) => call.call("close", [fd]),
    fd_fdstat_get: (fd, at) => {
      const errno = call.call("describe", [fd])
      if (errno !== ERRNO.SUCCESS) return errno
      const [kind, , , , , , , flags] = call.numbers
      bytes(at, 24).fill(0)
      const memoryView = view()
      memoryView.setUint8(at >>> 0, kind)
      memoryView.setUint16((at >>> 0) + 2, flags, true)
      memoryView.setBigUint64((at >>> 0) + 8, ALL_RIGHTS, true)
      memoryView.setBigUint64((at >>> 0) + 16, ALL_RIGHTS, true)
      return ERRNO.SUCCESS
    },
    fd_fdstat_set_flags: (fd, flags) => call.call("setFlags", [fd, flags]),
    fd_filestat_get: (fd, at) => writeDescription(call.call("describe", [fd]), at),
    fd_filestat_set_size: (fd, size) =>
      place(size) === undefined ? ERRNO.INVAL : call.call("resize", [fd, place(size)]),
    fd_filestat_set_times: (fd, accessed, modified, flags) =>
      call.call("setTimes", [fd, timeOf(accessed, flags, 1, 2), timeOf(modified, flags, 4, 8)]),
    fd_read: (fd, iovs, count, result) => readInto(fd, iovs, count, -1, result),
    fd_write: (fd, iovs, count, result) => writeFrom(fd, iovs, count, -1, result),
    fd_pread: (fd, iovs, count, offset, result) =>
      place(offset) === undefined ? ERRNO.INVAL : readInto(fd, iovs, count, place(offset), result),
    fd_pwrite: (fd, iovs, count, offset, result) =>
      place(offset) === undefined ? ERRNO.INVAL : writeFrom(fd, iovs, count, place(offset), result),
    fd_seek: (fd, offset, whence, at) => {
      const errno = call.call("seek", [fd, Number(offset), whence])
      if (errno === ERRNO.SUCCESS) view().setBigUint64(at >>> 0, BigInt(call.numbers[0]), true)
      return errno
    },
    fd_tell: (fd, at) => functions.fd_seek(fd, 0n, 1, at),
    fd_prestat_get: (fd, at) => {
      if (fd !== 3) return ERRNO.BADF
      view().setUint32(at >>> 0, 0, true)
      view().setUint32((at >>> 0) + 4, 1, true)
      return ERRNO.SUCCESS
    },
    fd_prestat_dir_name: (fd, at, length) => {
      if (fd !== 3) return ERRNO.BADF
      if (length < 1) return ERRNO.INVAL
      bytes(at, 1)[0] = 0x2f
      return ERRNO.SUCCESS
    },
    fd_readdir: (fd, at, length, cookie, result) => {
      const target = bytes(at, length)
      if (cookie > 2n ** 52n) return ERRNO.INVAL
      const errno = call.call("list", [fd, Number(cookie), Math.min(target.length, CALL_BYTES)])
      if (errno !== ERRNO.SUCCESS) return errno
      const used = call.numbers[0]
      target.set(call.data.subarray(0, used))
      view().setUint32(result >>> 0, used, true)
      return ERRNO.SUCCESS
    },

    path_create_directory: (fd, at, length) => onPath("makeFolder", [fd], at, length),
    path_filestat_get: (fd, flags, at, length, result) =>
      writeDescription(onPath("describePath", [fd, flags & 1], at, length), result),
    path_filestat_set_times: (fd, flags, at, length, accessed, modified, which) =>
      onPath(
        "setPathTimes",
        [fd, flags & 1, timeOf(accessed, which, 1, 2), timeOf(modified, which, 4, 8)],
        at,
        length,
      ),
    path_link: (fd, flags, at, length, newFd, newAt, newLength) =>
      onPaths("link", [fd, flags & 1, newFd], pathOf(at, length), pathOf(newAt, newLength)),
    path_open: (fd, lookup, at, length, how, rights, _inheriting, flags, result) => {
      const canRead = rights & CAN_READ ? 1 : 0
      const canWrite = rights & CAN_WRITE ? 1 : 0
      const errno = onPath("open", [fd, lookup & 1, how, flags, canRead, canWrite], at, length)
      if (errno === ERRNO.SUCCESS) view().setUint32(result >>> 0, call.numbers[0], true)
      return errno
    },
    path_readlink: (fd, at, length, buffer, size, result) => {
      const target = bytes(buffer, size)
      const errno = onPath("readLink", [fd, Math.min(target.length, CALL_BYTES)], at, length)
      if (errno !== ERRNO.SUCCESS) return errno
      const used = call.numbers[0]
      target.set(call.data.subarray(0, used))
      view().setUint32(result >>> 0, used, true)
      return ERRNO.SUCCESS
    },
    path_remove_directory: (fd, at, length) => onPath("removeFolder", [fd], at, length),
    path_rename: (fd, at, length, newFd, newAt, newLength) =>
      onPaths("rename", [fd, newFd], pathOf(at, length), pathOf(newAt, newLength)),
    path_symlink: (at, length, fd, newAt, newLength) =>
      onPaths("makeLink", [fd], pathOf(at, length), pathOf(newAt, newLength)),
    path_unlink_file: (fd, at, length) => onPath("removeFile", [fd], at, length),

    poll_oneoff: (from, to, count, result) => {
      if (count < 1 || count > MOST_POLLED) return ERRNO.INVAL
      const memoryView = view()
      const asked = Array.from({ length: count }, (_, index) => {
        const at = (from >>> 0) + index * 48
        const isAbsolute = (memoryView.getUint16(at + 40, true) & 1) !== 0
        const tag = memoryView.getUint8(at + 8)
        const timeout = tag === 0 ? memoryView.getBigUint64(at + 24, true) : 0n
        const now = tag === 0 && isAbsolute ? clock(memoryView.getUint32(at + 16, true)) : 0n
        return { at, tag, wait: timeout > now ? timeout - now : 0n }
      })
      const shortest = asked.reduce((least, { wait }) => (wait < least ? wait : least), asked[0].wait)
      sleep(shortest)
      const ready = asked.filter(({ wait }) => wait <= shortest)
      for (const [index, { at, tag }] of ready.entries()) {
        const event = (to >>> 0) + index * 32
        bytes(event, 32).fill(0)
        memoryView.setBigUint64(event, memoryView.getBigUint64(at, true), true)
        memoryView.setUint8(event + 10, tag)
        if (tag !== 0) memoryView.setBigUint64(event + 16, 1n, true)
      }
      memoryView.setUint32(result >>> 0, ready.length, true)
      return ERRNO.SUCCESS
    },

    sock_accept: notSupported,
    sock_recv: notSupported,
    sock_send: notSupported,
    sock_shutdown: notSupported,
  }

  return Object.fromEntries(Object.entries(functions).map(([name, run]) => [name, guarded(run)]))
}

// A place outside the guest's memory makes a RangeError of its view: for the guest, a bad address.
function guarded(run) {
  return (...given) => {
    try {
      return run(...given)
    } catch (error) {
      if (error instanceof GuestExit) throw error
      return ERRNO.FAULT
    }
  }
}
