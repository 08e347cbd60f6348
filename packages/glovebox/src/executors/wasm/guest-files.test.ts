import { describe, expect, it } from "vitest"
import { guest, hostileGuest } from "./guest-files.test-kit.ts"

const INVAL = 28
const FAULT = 21
const ISDIR = 31
const LOOP = 32
const NAMETOOLONG = 37
const NOENT = 44
const NOSPC = 51
const NOTDIR = 54
const ROFS = 69

describe("the files of a guest in WebAssembly", () => {
  it("no path leaves the root, by .. or by a link", () => {
    const { call } = guest()
    expect(call("makeLink", [3, 12], "/../../../..workspace/up").errno).toBe(0)
    for (const path of ["../../../etc/passwd", "workspace/../../etc/passwd", "workspace/up/etc/passwd"]) {
      expect(call("describePath", [3, 1], path).errno, path).toBe(NOENT)
    }
    const root = call("describePath", [3, 1], "workspace/up/..").numbers
    expect(root).toEqual(call("describePath", [3, 1], ".").numbers)
  })

  it("links in a circle, and long chains of them, end", () => {
    const { call } = guest()
    call("makeLink", [3, 1], "bworkspace/a")
    call("makeLink", [3, 1], "aworkspace/b")
    expect(call("describePath", [3, 1], "workspace/a").errno).toBe(LOOP)
    expect(call("open", [3, 0, 0, 0, 1, 0], "workspace/a").errno).toBe(LOOP)
  })

  it("names that are too long, empty, or have a NUL are refused", () => {
    const { call } = guest()
    expect(call("open", [3, 1, 1, 0, 1, 1], `workspace/${"n".repeat(256)}`).errno).toBe(NAMETOOLONG)
    expect(call("open", [3, 1, 1, 0, 1, 1], `workspace/${"n".repeat(255)}`).errno).toBe(0)
    expect(call("open", [3, 1, 1, 0, 1, 1], "").errno).toBe(NOENT)
    expect(call("open", [3, 1, 1, 0, 1, 1], "workspace/a\0b").errno).toBe(INVAL)
  })

  it("nothing but the workspace and /tmp can be written, renamed or removed", () => {
    const { call } = guest()
    expect(call("open", [3, 1, 1, 0, 0, 1], "etc").errno).toBe(ROFS)
    expect(call("makeFolder", [3], "dev/x").errno).toBe(ROFS)
    expect(call("rename", [3, 3, 9], "workspacetmp/x").errno).toBe(ROFS)
    expect(call("removeFolder", [3], "tmp").errno).toBe(ROFS)
    expect(call("removeFile", [3], "dev/null").errno).toBe(ROFS)
  })

  it("a folder is not moved into itself", () => {
    const { call } = guest()
    call("makeFolder", [3], "workspace/a")
    call("makeFolder", [3], "workspace/a/b")
    expect(call("rename", [3, 3, 11], "workspace/aworkspace/a/b/c").errno).toBe(INVAL)
  })

  it("bytes are bounded, also of files that are removed while they are open, and come back when closed", () => {
    const { call, files } = guest({ maxBytes: 8 * 4096, maxFiles: 100 })
    const [fd = -1] = call("open", [3, 1, 1, 0, 1, 1], "workspace/big").numbers
    expect(call("write", [fd, -1], "x".repeat(9 * 4096)).numbers[0]).toBe(8 * 4096)
    expect(call("write", [fd, -1], "x").errno).toBe(NOSPC)
    expect(files.wasFull).toBe(true)
    expect(call("removeFile", [3], "workspace/big").errno).toBe(0)
    const [other = -1] = call("open", [3, 1, 1, 0, 1, 1], "workspace/other").numbers
    expect(call("write", [other, -1], "x").errno).toBe(NOSPC)
    call("close", [fd])
    expect(call("write", [other, -1], "x").errno).toBe(0)
  })

  it("a file may have holes that cost nothing, and reads zeros there", () => {
    const { call } = guest({ maxBytes: 400 * 4096, maxFiles: 100 })
    const files = Array.from({ length: 400 }, (_, index) => {
      const [fd = -1] = call("open", [3, 1, 1, 0, 1, 1], `workspace/sparse${index % 10}`).numbers
      expect(call("resize", [fd, 400 * 4096]).errno).toBe(0)
      return fd
    })
    const [fd = -1] = files
    expect(call("write", [fd, 200 * 4096], "x").errno).toBe(0)
    expect(call("read", [fd, 3, 200 * 4096 - 1]).data).toEqual(Buffer.from("\0x\0"))
  })

  it("files and open files are bounded in number", () => {
    const { call } = guest({ maxBytes: 2 ** 20, maxFiles: 10 })
    const made = Array.from({ length: 20 }, (_, index) => call("makeFolder", [3], `workspace/${index}`).errno)
    expect(made.filter((errno) => errno === 0)).toHaveLength(10)
    expect(made.at(-1)).toBe(NOSPC)
    const opened = Array.from({ length: 1100 }, () => call("open", [3, 1, 0, 0, 1, 0], "workspace").errno)
    expect(opened.filter((errno) => errno === 0).length).toBeLessThan(1024)
  })

  it("folders are no files, and files no folders", () => {
    const { call } = guest()
    call("open", [3, 1, 1, 0, 1, 1], "workspace/f")
    expect(call("open", [3, 1, 0, 0, 1, 1], "workspace").errno).toBe(ISDIR)
    expect(call("describePath", [3, 1], "workspace/f/x").errno).toBe(NOTDIR)
    expect(call("describePath", [3, 1], "workspace/f/").errno).toBe(NOTDIR)
  })

  it("a place outside the guest's memory is a bad address, in every function", () => {
    const wasi = hostileGuest()
    const outside = [0xffff_fff0 | 0, 65_535, 0x7fff_ffff, -1]
    for (const at of outside) {
      expect(wasi("random_get", at, 64)).toBe(FAULT)
      expect(wasi("clock_time_get", 0, 0n, at)).toBe(FAULT)
      expect(wasi("args_get", at, at)).toBe(FAULT)
      expect(wasi("environ_sizes_get", at, at)).toBe(FAULT)
      expect(wasi("fd_read", 0, at, 1, 0)).toBe(FAULT)
      expect(wasi("fd_write", 1, at, 1, 0)).toBe(FAULT)
      expect(wasi("fd_filestat_get", 3, at)).toBe(FAULT)
      expect(wasi("fd_fdstat_get", 3, at)).toBe(FAULT)
      expect(wasi("fd_readdir", 3, at, 64, 0n, 0)).toBe(FAULT)
      expect(wasi("path_open", 3, 0, at, 16, 0, 0n, 0n, 0, 0)).toBe(FAULT)
      expect(wasi("poll_oneoff", at, at, 1, 0)).toBe(FAULT)
    }
    expect(wasi("poll_oneoff", 0, 0, 0x7fff_ffff, 0)).toBe(INVAL)
    expect(wasi("fd_write", 1, 0, 0x7fff_ffff, 0)).toBe(INVAL)
    expect(wasi("path_open", 3, 0, 0, -1, 0, 0n, 0n, 0, 0)).toBe(NAMETOOLONG)
    expect(wasi("fd_pwrite", 1, 0, 0, -5n, 0)).toBe(INVAL)
    expect(wasi("sock_send", 1, 0, 0, 0, 0)).toBe(58)
  })
})
