import { mkdir, mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { type WrittenOutput, writeOutputs } from "./write-outputs.ts"

let root = ""

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "glovebox-outputs-"))
  await mkdir(join(root, "out"))
})

afterEach(async () => {
  await rm(root, { recursive: true, force: true })
})

async function put(files: Readonly<Record<string, string>>): Promise<readonly WrittenOutput[]> {
  return writeOutputs(
    join(root, "out"),
    Object.entries(files).map(([path, text]) => ({ path, content: Buffer.from(text), executable: true })),
  )
}

const read = async (path: string): Promise<string> => readFile(join(root, path), "utf8")

describe("writeOutputs", () => {
  it("makes the folders that are below it", async () => {
    await put({ "a.txt": "a", "b/c/d.txt": "d" })
    expect([await read("out/a.txt"), await read("out/b/c/d.txt")]).toEqual(["a", "d"])
  })

  it("writes the others where one cannot be written, and says why it is not there", async () => {
    const long = "a".repeat(255)
    await writeFile(join(root, "out", long), "other")
    const written = await put({ [long]: "a", "b.txt": "b", [`${long}/${long}/c`]: "c" })
    expect(written.map(({ file, failure }) => [file, failure?.split(":")[0]])).toEqual([
      [undefined, "ENAMETOOLONG"],
      [join(root, "out", "b.txt"), undefined],
      [undefined, "ENAMETOOLONG"],
    ])
    expect(await read(`out/${long}`)).toBe("other")
  })

  it("stops when it is told to", async () => {
    const files = [{ path: "a.txt", content: Buffer.from("a"), executable: false }]
    await expect(
      writeOutputs(join(root, "out"), files, AbortSignal.abort(new Error("enough"))),
    ).rejects.toThrow("enough")
    expect(await readdir(join(root, "out"))).toEqual([])
  })

  it("gives a file another name where one with other content is, and leaves one with the same", async () => {
    await put({ "report.md": "1", "same.md": "s" })
    const written = await put({ "report.md": "2", "same.md": "s" })
    expect(written.map(({ file, isRenamed }) => [file, isRenamed])).toEqual([
      [join(root, "out", "report-2.md"), true],
      [join(root, "out", "same.md"), false],
    ])
    expect([await read("out/report.md"), await read("out/report-2.md")]).toEqual(["1", "2"])
    await put({ "report.md": "3" })
    expect((await readdir(join(root, "out"))).toSorted()).toEqual([
      "report-2.md",
      "report-3.md",
      "report.md",
      "same.md",
    ])
  })

  it("follows no link, neither to a file nor to a folder", async () => {
    await mkdir(join(root, "elsewhere"))
    await writeFile(join(root, "victim"), "mine")
    await symlink(join(root, "victim"), join(root, "out", "a.txt"))
    await symlink(join(root, "elsewhere"), join(root, "out", "dir"))
    await symlink(join(root, "absent"), join(root, "out", "dangling"))
    const written = await put({ "a.txt": "evil", "dir/b.txt": "evil", dangling: "evil" })
    expect(written.every(({ isRenamed }) => isRenamed)).toBe(true)
    expect(await read("victim")).toBe("mine")
    expect(await readdir(join(root, "elsewhere"))).toEqual([])
    expect(await readdir(root)).not.toContain("absent")
  })

  it("removes no file to make a folder of its name, nor the other way round", async () => {
    await mkdir(join(root, "out", "there"), { recursive: true })
    await writeFile(join(root, "out", "data"), "mine")
    await put({ "data/x.csv": "x", there: "t" })
    expect(await read("out/data")).toBe("mine")
    expect([await read("out/data-2/x.csv"), await read("out/there-2")]).toEqual(["x", "t"])
  })

  it("leaves out hidden files, which tools act on, and makes nothing executable", async () => {
    const written = await put({ ".git/hooks/pre-commit": "evil", "a/.envrc": "evil", "run.sh": "echo" })
    expect(written.map(({ file }) => file)).toEqual([undefined, undefined, join(root, "out", "run.sh")])
    expect((await readdir(join(root, "out"), { recursive: true })).toSorted()).toEqual(["run.sh"])
    expect((await stat(join(root, "out", "run.sh"))).mode & 0o111).toBe(0)
  })
})
