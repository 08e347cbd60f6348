/** The numbers by which WASI (preview 1) tells what failed. */
export const ERRNO = {
  SUCCESS: 0,
  BADF: 8,
  BUSY: 10,
  EXIST: 20,
  FAULT: 21,
  FBIG: 22,
  INVAL: 28,
  IO: 29,
  ISDIR: 31,
  LOOP: 32,
  MFILE: 33,
  NAMETOOLONG: 37,
  NOENT: 44,
  NOSPC: 51,
  NOSYS: 52,
  NOTDIR: 54,
  NOTEMPTY: 55,
  NOTSUP: 58,
  PERM: 63,
  ROFS: 69,
  SPIPE: 70,
}

const TEXTS = {
  [ERRNO.INVAL]: "Invalid argument",
  [ERRNO.ISDIR]: "Is a directory",
  [ERRNO.NAMETOOLONG]: "File name too long",
  [ERRNO.NOSPC]: "No space left on device",
  [ERRNO.NOTDIR]: "Not a directory",
  [ERRNO.ROFS]: "Read-only file system",
}

/** What a call on files failed with. */
export class FileError extends Error {
  /** @param {number} errno */
  constructor(errno) {
    super(TEXTS[errno] ?? `error ${errno}`)
    this.errno = errno
  }
}
