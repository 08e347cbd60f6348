import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PassThrough, Readable } from "node:stream"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { readCode } from "./read-code.ts"

let folder = ""

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "glovebox-code-"))
  await writeFile(join(folder, "bom.py"), "\uFEFFprint(1)\n")
  await writeFile(join(folder, "latin.py"), Buffer.from([0x23, 0xe4]))
  await writeFile(join(folder, "empty.py"), " \n")
})

afterAll(async () => {
  await rm(folder, { recursive: true })
})

const { signal } = new AbortController()
const read = async (file?: string, stdin: Readable = Readable.from([])): ReturnType<typeof readCode> =>
  readCode(file, { stdin, signal })
const inFolder = (file: string): ReturnType<typeof readCode> => read(join(folder, file))

describe("readCode", () => {
  it("reads a file, without a byte order mark", async () => {
    const path = join(folder, "bom.py")
    expect(await read(path)).toEqual({ text: "print(1)\n", name: path, path })
  })

  it("reads stdin for - and for no file, also characters that come in pieces", async () => {
    const [a, b] = [Buffer.from([0xc3]), Buffer.from([0xa4])]
    expect(await read("-", Readable.from([a, b]))).toEqual({ text: "ä", name: "stdin" })
    expect(await read(undefined, Readable.from([a, b]))).toEqual({ text: "ä", name: "stdin" })
  })

  it("says why there is nothing to run", async () => {
    await expect(inFolder("none.py")).rejects.toThrow(/none\.py cannot be read: there is no such file\.$/)
    await expect(inFolder(".")).rejects.toThrow(/cannot be read: it is a folder\.$/)
    await expect(inFolder("latin.py")).rejects.toThrow(/latin\.py is not UTF-8 text\.$/)
    await expect(inFolder("empty.py")).rejects.toThrow(/empty\.py is empty/)
    await expect(read("/dev/zero")).rejects.toThrow("it is larger than 16MiB")
    await expect(read(undefined, Object.assign(new PassThrough(), { isTTY: true }))).rejects.toMatchObject({
      message: expect.stringContaining("name a file, or pipe the code in") as string,
      exitCode: 2,
    })
  })

  it("stops reading when it is told to", async () => {
    const aborted = new AbortController()
    const reading = readCode("-", { stdin: new PassThrough(), signal: aborted.signal })
    aborted.abort(new Error("enough"))
    await expect(reading).rejects.toThrow("enough")
  })
})
