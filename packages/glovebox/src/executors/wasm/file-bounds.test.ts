import { describe, expect, it } from "vitest"
import { Workspace, guest } from "./guest-files.test-kit.ts"

const FBIG = 22
const NAMETOOLONG = 37
const NOENT = 44
const NOSPC = 51
const ROFS = 69
const CREATED = [3, 1, 1, 0, 1, 1]
const TRUNCATED = [3, 1, 8, 0, 1, 0]

describe("what a guest's files cost", () => {
  it("no file is longer than all files may be, holes or not", () => {
    const { call } = guest({ maxBytes: 4 * 4096, maxFiles: 10 })
    const [fd = -1] = call("open", CREATED, "workspace/f").numbers
    expect(call("resize", [fd, 2 ** 40]).errno).toBe(FBIG)
    expect(call("resize", [fd, 4 * 4096 + 1]).errno).toBe(FBIG)
    expect(call("write", [fd, 2 ** 40], "x").errno).toBe(FBIG)
    expect(call("seek", [fd, 2 ** 41, 0]).errno).toBe(0)
    expect(call("write", [fd, -1], "x").errno).toBe(FBIG)
    expect(call("describe", [fd]).numbers[3]).toBe(0)
  })

  it("a path is no longer than 32 KiB, in any call", () => {
    const { call } = guest()
    const long = `tmp${"/".repeat(60_000)}a`
    const calls: readonly (readonly [string, readonly number[], string])[] = [
      ["open", CREATED, long],
      ["describePath", [3, 1], long],
      ["setPathTimes", [3, 1, -2, -2], long],
      ["makeFolder", [3], long],
      ["removeFolder", [3], long],
      ["removeFile", [3], long],
      ["rename", [3, 3, long.length], `${long}tmp/b`],
      ["rename", [3, 3, 3], `tmp${long}`],
      ["link", [3, 1, 3, long.length], `${long}tmp/b`],
      ["makeLink", [3, 1], `x${long}`],
      ["readLink", [3, 100], long],
      ["setMode", [0o755], long],
    ]
    for (const [name, numbers, data] of calls) {
      expect([name, call(name, numbers, data).errno]).toEqual([name, NAMETOOLONG])
    }
    expect(call("makeFolder", [3], "tmp/made///").errno).toBe(0)
    expect(call("describePath", [3, 1], "tmp/made").errno).toBe(0)
  })

  it("a second name of a file counts as a file does, and is given back", () => {
    const { call, files } = guest({ maxBytes: 2 ** 20, maxFiles: 10 })
    call("open", CREATED, "workspace/f")
    const linked = Array.from(
      { length: 20 },
      (_, index) => call("link", [3, 1, 3, 11], `workspace/ftmp/${index}`).errno,
    )
    expect(linked.filter((errno) => errno === 0)).toHaveLength(9)
    expect([linked.at(-1), files.wasFull]).toEqual([NOSPC, true])
    expect(call("removeFile", [3], "tmp/0").errno).toBe(0)
    expect(call("makeFolder", [3], "tmp/again").errno).toBe(0)
    expect(call("makeFolder", [3], "tmp/more").errno).toBe(NOSPC)
  })

  it("names and targets of links have a bound together, and are given back", () => {
    const { call } = guest({ maxBytes: 2 ** 20, maxFiles: 100_000 })
    const target = "x".repeat(4000)
    const make = (index: number): number => call("makeLink", [3, 4000], `${target}tmp/${index}`).errno
    const made = Array.from({ length: 200 }, (_, index) => make(index)).filter((errno) => errno === 0)
    expect(made.length).toBeGreaterThan(10)
    expect(made.length).toBeLessThan(40)
    const long = "n".repeat(255)
    expect(call("rename", [3, 3, 5], `tmp/0tmp/${long}`).errno).toBe(0)
    for (let round = 0; round < 1000; round += 1) {
      expect(call("removeFile", [3], "tmp/1").errno).toBe(0)
      expect(make(1)).toBe(0)
    }
    const named = Array.from(
      { length: 5000 },
      (_, index) => call("open", CREATED, `tmp/${String(index).padStart(255, "0")}`).errno,
    )
    expect(named).toContain(NOSPC)
  })

  it("a folder lists all its names by pieces, with others removed and asked for meanwhile", () => {
    const { call } = guest()
    for (let index = 0; index < 500; index += 1) call("makeFolder", [3], `tmp/folder${index}`)
    const [fd = -1] = call("open", [3, 1, 2, 0, 1, 0], "tmp").numbers
    const names: string[] = []
    for (let from = 0; ;) {
      const { data } = call("list", [fd, from, 300])
      const some = entries(data)
      if (some.length === 0) break
      from += some.length
      for (const name of some.filter((each) => each.startsWith("folder"))) {
        names.push(name)
        expect(call("removeFolder", [3], `tmp/${name}`).errno).toBe(0)
      }
    }
    expect(new Set(names).size).toBe(500)
    call("makeFolder", [3], "tmp/one")
    expect(entries(call("list", [fd, 0, 1000]).data)).toEqual([".", "..", "one"])
    expect(entries(call("list", [fd, 2, 1000]).data)).toEqual(["one"])
  })

  it("a folder that was removed while it was open takes nothing, by no call", () => {
    const { call } = guest()
    call("makeFolder", [3], "tmp/gone")
    call("open", CREATED, "tmp/f")
    const [fd = -1] = call("open", [3, 1, 2, 0, 1, 0], "tmp/gone").numbers
    call("removeFolder", [3], "tmp/gone")
    expect(call("rename", [3, fd, 5], "tmp/fx").errno).toBe(NOENT)
    expect(call("link", [3, 1, fd, 5], "tmp/fx").errno).toBe(NOENT)
    expect(call("open", [fd, 1, 1, 0, 1, 1], "x").errno).toBe(NOENT)
    expect(call("describePath", [3, 1], "tmp/f").errno).toBe(0)
  })

  it("the library is not shortened, written or linked to", () => {
    const { call, files } = guest()
    files.addLibrary("functions.py", "x = 1\n")
    const path = "lib/glovebox/functions.py"
    expect(call("open", TRUNCATED, path).errno).toBe(ROFS)
    expect(call("open", [3, 1, 0, 0, 1, 1], path).errno).toBe(ROFS)
    expect(call("link", [3, 1, 3, path.length], `${path}tmp/x`).errno).not.toBe(0)
    const [fd = -1] = call("open", [3, 1, 0, 0, 1, 0], path).numbers
    expect(call("read", [fd, 100, -1]).data.toString()).toBe("x = 1\n")
  })

  it("streams and the root stay open, whoever closes them", () => {
    const { call } = guest()
    for (const fd of [0, 1, 2, 3]) expect(call("close", [fd]).errno).toBe(0)
    for (const fd of [0, 1, 2, 3]) expect(call("describe", [fd]).errno).toBe(0)
  })

  it("what the host puts has room when the guest has none", () => {
    const { call, files } = guest({ maxBytes: 8 * 4096, maxFiles: 16 })
    const [fd = -1] = call("open", CREATED, "tmp/bomb").numbers
    call("write", [fd, -1], "x".repeat(8 * 4096))
    for (let index = 0; index < 20; index += 1) call("makeFolder", [3], `tmp/${index}`)
    const workspace = new Workspace(files)
    const code = Buffer.from("print(1)")
    for (const path of ["a.py", "deep/b.py"]) workspace.put({ path, mode: 0o644, size: code.length }, code)
    expect(call("describePath", [3, 1], "workspace/deep/b.py").numbers[3]).toBe(code.length)
    expect(call("write", [fd, -1], "x").errno).toBe(NOSPC)
    const all = Buffer.alloc(8 * 4096 + 2 ** 21)
    expect(() => workspace.put({ path: "c", mode: 0o644, size: all.length }, all)).toThrow(/space/)
  })

  it("a path that the host does not take is left out, and said to be", () => {
    const { call, files } = guest()
    let path = "workspace"
    for (let depth = 0; depth < 10; depth += 1) {
      path += `/${"\u0001".repeat(250)}`
      expect(call("makeFolder", [3], path).errno).toBe(0)
      call("open", CREATED, `${path}/f`)
    }
    const changes = [...new Workspace(files).changes({ maxFiles: 100, maxBytes: 1000 })]
    const paths = changes.flatMap((change) => change.path ?? [])
    expect(paths).toHaveLength(4)
    for (const each of paths) expect(Buffer.byteLength(each)).toBeLessThanOrEqual(1024)
    expect(changes.at(-1)?.sum).toMatchObject({ skipped: 6, over: true })
  })
})

function entries(bytes: Buffer): string[] {
  const names: string[] = []
  for (let at = 0; at + 24 <= bytes.length;) {
    const end = at + 24 + bytes.readUInt32LE(at + 16)
    if (end > bytes.length) break
    names.push(bytes.toString("latin1", at + 24, end))
    at = end
  }
  return names
}
