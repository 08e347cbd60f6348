import { ERRNO } from "./errno.mjs"
import { CALL_BYTES } from "./shared-call.mjs"

const ALL_RIGHTS = 0x1fffffffn
const CAN_READ = 1n << 1n
const CAN_WRITE = 1n << 6n
const ROOT = 3
const OWN_PLACE = -1

/**
 * The functions of WASI that have to do with files.
 *
 * @param {import("./shared-call.mjs").CallingEnd} call
 * @param {import("./guest-memory.mjs").GuestMemory} memory
 */
export function wasiFiles(call, memory) {
  // A copy, for the guest's memory may move; undefined when it is too long.
  const pathAt = (at, length) =>
    length >>> 0 > CALL_BYTES / 2 ? undefined : memory.bytes(at, length).slice()
  const onPath = (name, numbers, at, length) => {
    const path = pathAt(at, length)
    return path ? call.call(name, numbers, path) : ERRNO.NAMETOOLONG
  }
  const onPaths = (name, numbers, first, second) => {
    if (!first || !second) return ERRNO.NAMETOOLONG
    return call.call(name, [...numbers, first.length], Buffer.concat([first, second]))
  }

  // Piece by piece, until there is no more, or no room for more.
  const transfer = (iovs, count, result, move) => {
    const buffers = memory.vectors(iovs, count)
    if (!buffers) return ERRNO.INVAL
    let total = 0
    for (const buffer of buffers) {
      for (let at = 0; at < buffer.length;) {
        const piece = buffer.subarray(at, at + CALL_BYTES)
        const errno = move(piece, total)
        if (errno !== ERRNO.SUCCESS && total === 0) return errno
        const moved = errno === ERRNO.SUCCESS ? Math.min(call.numbers[0], piece.length) : 0
        at += moved
        total += moved
        if (moved === piece.length) continue
        memory.writeU32(result, total)
        return ERRNO.SUCCESS
      }
    }
    memory.writeU32(result, total)
    return ERRNO.SUCCESS
  }
  const read = (fd, iovs, count, place, result) =>
    transfer(iovs, count, result, (piece, done) => {
      const errno = call.call("read", [fd, piece.length, place === OWN_PLACE ? place : place + done])
      if (errno === ERRNO.SUCCESS) piece.set(call.data.subarray(0, Math.min(call.numbers[0], piece.length)))
      return errno
    })
  const write = (fd, iovs, count, place, result) =>
    transfer(iovs, count, result, (piece, done) =>
      call.call("write", [fd, place === OWN_PLACE ? place : place + done], piece),
    )

  const describe = (errno, at) => {
    if (errno !== ERRNO.SUCCESS) return errno
    const [kind, ino, links, size, ...times] = call.numbers
    memory.bytes(at, 64).fill(0)
    const start = at >>> 0
    memory.writeU64(start, 1n)
    memory.writeU64(start + 8, ino)
    memory.writeU8(start + 16, kind)
    memory.writeU64(start + 24, links)
    memory.writeU64(start + 32, size)
    for (const [index, time] of times.slice(0, 3).entries()) {
      memory.writeU64(start + 40 + index * 8, BigInt(Math.max(0, Math.round(time * 1000))) * 1000n)
    }
    return ERRNO.SUCCESS
  }
  const intoBuffer = (errno, target, result) => {
    if (errno !== ERRNO.SUCCESS) return errno
    const used = Math.min(call.numbers[0], target.length)
    target.set(call.data.subarray(0, used))
    memory.writeU32(result, used)
    return ERRNO.SUCCESS
  }
  const seek = (fd, offset, whence, at) => {
    const errno = call.call("seek", [fd, Number(offset), whence])
    if (errno === ERRNO.SUCCESS) memory.writeU64(at, call.numbers[0])
    return errno
  }

  return {
    fd_advise: () => ERRNO.SUCCESS,
    fd_datasync: () => ERRNO.SUCCESS,
    fd_sync: () => ERRNO.SUCCESS,
    fd_allocate: (fd, offset, length) => {
      const end = placeOf(offset + length)
      if (end === undefined) return ERRNO.INVAL
      const errno = call.call("describe", [fd])
      if (errno !== ERRNO.SUCCESS) return errno
      return end > call.numbers[3] ? call.call("resize", [fd, end]) : ERRNO.SUCCESS
    },
    fd_close: (fd) => call.call("close", [fd]),
    fd_fdstat_get: (fd, at) => {
      const errno = call.call("describe", [fd])
      if (errno !== ERRNO.SUCCESS) return errno
      memory.bytes(at, 24).fill(0)
      memory.writeU8(at, call.numbers[0])
      memory.writeU16((at >>> 0) + 2, call.numbers[7])
      memory.writeU64((at >>> 0) + 8, ALL_RIGHTS)
      memory.writeU64((at >>> 0) + 16, ALL_RIGHTS)
      return ERRNO.SUCCESS
    },
    fd_fdstat_set_flags: (fd, flags) => call.call("setFlags", [fd, flags]),
    fd_filestat_get: (fd, at) => describe(call.call("describe", [fd]), at),
    fd_filestat_set_size: (fd, size) =>
      placeOf(size) === undefined ? ERRNO.INVAL : call.call("resize", [fd, placeOf(size)]),
    fd_filestat_set_times: (fd, accessed, modified, which) =>
      call.call("setTimes", [fd, ...timesOf(accessed, modified, which)]),
    fd_read: (fd, iovs, count, result) => read(fd, iovs, count, OWN_PLACE, result),
    fd_write: (fd, iovs, count, result) => write(fd, iovs, count, OWN_PLACE, result),
    fd_pread: (fd, iovs, count, offset, result) =>
      placeOf(offset) === undefined ? ERRNO.INVAL : read(fd, iovs, count, placeOf(offset), result),
    fd_pwrite: (fd, iovs, count, offset, result) =>
      placeOf(offset) === undefined ? ERRNO.INVAL : write(fd, iovs, count, placeOf(offset), result),
    fd_seek: seek,
    fd_tell: (fd, at) => seek(fd, 0n, 1, at),
    fd_prestat_get: (fd, at) => {
      if (fd !== ROOT) return ERRNO.BADF
      memory.writeU32(at, 0)
      memory.writeU32((at >>> 0) + 4, 1)
      return ERRNO.SUCCESS
    },
    fd_prestat_dir_name: (fd, at, length) => {
      if (fd !== ROOT) return ERRNO.BADF
      if (length < 1) return ERRNO.INVAL
      memory.writeU8(at, 0x2f)
      return ERRNO.SUCCESS
    },
    fd_readdir: (fd, at, length, cookie, result) => {
      const target = memory.bytes(at, length)
      const from = placeOf(cookie)
      if (from === undefined) return ERRNO.INVAL
      const room = Math.min(target.length, CALL_BYTES)
      return intoBuffer(call.call("list", [fd, from, room]), target, result)
    },

    path_create_directory: (fd, at, length) => onPath("makeFolder", [fd], at, length),
    path_filestat_get: (fd, flags, at, length, result) =>
      describe(onPath("describePath", [fd, flags & 1], at, length), result),
    path_filestat_set_times: (fd, flags, at, length, accessed, modified, which) =>
      onPath("setPathTimes", [fd, flags & 1, ...timesOf(accessed, modified, which)], at, length),
    path_link: (fd, flags, at, length, newFd, newAt, newLength) =>
      onPaths("link", [fd, flags & 1, newFd], pathAt(at, length), pathAt(newAt, newLength)),
    path_open: (fd, lookup, at, length, how, rights, _inheriting, flags, result) => {
      const canRead = rights & CAN_READ ? 1 : 0
      const canWrite = rights & CAN_WRITE ? 1 : 0
      const errno = onPath("open", [fd, lookup & 1, how, flags, canRead, canWrite], at, length)
      if (errno === ERRNO.SUCCESS) memory.writeU32(result, call.numbers[0])
      return errno
    },
    path_readlink: (fd, at, length, buffer, size, result) => {
      const target = memory.bytes(buffer, size)
      const room = Math.min(target.length, CALL_BYTES)
      return intoBuffer(onPath("readLink", [fd, room], at, length), target, result)
    },
    path_remove_directory: (fd, at, length) => onPath("removeFolder", [fd], at, length),
    path_rename: (fd, at, length, newFd, newAt, newLength) =>
      onPaths("rename", [fd, newFd], pathAt(at, length), pathAt(newAt, newLength)),
    path_symlink: (at, length, fd, newAt, newLength) =>
      onPaths("makeLink", [fd], pathAt(at, length), pathAt(newAt, newLength)),
    path_unlink_file: (fd, at, length) => onPath("removeFile", [fd], at, length),
  }
}

function placeOf(offset) {
  return offset < 0n || offset > 2n ** 52n ? undefined : Number(offset)
}

// In milliseconds; -1 leaves the time as it is, -2 is now.
function timeOf(value, isSet, isNow) {
  if (isNow) return -2
  return isSet ? Number(value) / 1e6 : -1
}

function timesOf(accessed, modified, which) {
  return [timeOf(accessed, which & 1, which & 2), timeOf(modified, which & 4, which & 8)]
}
