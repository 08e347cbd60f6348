import { spawn } from "node:child_process"
import { once } from "node:events"
import { appendFile, readFile, symlink, writeFile } from "node:fs/promises"
import { createInterface } from "node:readline"
import { beforeAll, describe, expect, it } from "vitest"
import { AuditFolder, note } from "../governance/audit/audit-folder.test-kit.ts"
import { forge } from "../governance/audit/attacks.test-kit.ts"
import { recordDemoRun } from "./audit/demo-run.test-kit.ts"
import { bin, buildCommand, ended, glovebox, startGlovebox } from "./glovebox.test-kit.ts"

beforeAll(buildCommand)

const last = <T>(items: readonly T[]): T => items.at(-1) ?? ({} as never)

/** What makes each kind of break, out of the lines of a log. */
const BREAKS: Record<
  string,
  { readonly change: (lines: string[]) => string[]; readonly seq: number; readonly line: number }
> = {
  edit: { change: (lines) => lines.with(4, (lines[4] ?? "").replace("n3", "n4")), seq: 5, line: 5 },
  deletion: { change: (lines) => lines.toSpliced(4, 2), seq: 5, line: 5 },
  reordering: { change: (lines) => lines.with(4, lines[6] ?? "").with(6, lines[4] ?? ""), seq: 5, line: 5 },
  truncation: { change: (lines) => lines.slice(0, 4), seq: 5, line: 5 },
  insertion: {
    change: (lines) => lines.toSpliced(4, 0, forge(lines[4] ?? "", { data: { name: "forged" } })),
    seq: 5,
    line: 5,
  },
}

describe("glovebox audit verify", () => {
  it("exits with 0 for a whole log in the folder where it is run", async () => {
    await using folder = await AuditFolder.make()
    const { code } = await glovebox(["audit", "verify"], "", {}, folder.folder)
    expect(code).toBe(3)
    await folder.write(9)
    const { stdout, ...rest } = await glovebox(["audit", "verify", "audit.jsonl"], "", {}, folder.folder)
    expect(rest).toEqual({ code: 0, stderr: "" })
    expect(stdout).toMatch(/^audit\.jsonl is whole\.\n/)
  })

  it.each(Object.entries(BREAKS))(
    "names the first broken record: %s",
    async (kind, { change, seq, line }) => {
      await using folder = await AuditFolder.make()
      await folder.write(9)
      await folder.setLines(change(await folder.lines()))
      const people = await glovebox(["audit", "verify", folder.path])
      expect(people).toMatchObject({ code: 1, stderr: "" })
      expect(people.stdout).toContain(
        `broken      ${kind} at record ${seq}\n  place       ${folder.path}, line ${line}\n`,
      )
    },
  )

  it("does not take a log that is being written for a broken one", async () => {
    await using folder = await AuditFolder.make()
    await using log = folder.log({ maxFileBytes: 50_000 })
    await log.append(note("first"))
    const over = new AbortController()
    const writing = (async () => {
      while (!over.signal.aborted)
        await Promise.all(Array.from({ length: 50 }, () => log.append(note("x".repeat(200)))))
    })()
    const results = await Promise.all(
      [1, 2, 3].map(async () => glovebox(["audit", "verify", folder.path])),
    ).finally(() => over.abort())
    await writing
    expect(results).toMatchObject(results.map(() => ({ code: 0, stderr: "" })))
  })
})

describe("glovebox audit show", () => {
  it("makes nothing of a hostile log act on a terminal, and stops at nothing in it", async () => {
    await using folder = await AuditFolder.make()
    await using log = folder.log()
    await log.append({ ...note("\u001b[2J\u009b31m\u202e"), agent: "a\u001b]0;x\u0007\nb" })
    await log.close()
    const lines = await folder.lines()
    const forged = forge(lines[1] ?? "", {
      kind: "\u001b[A",
      run: "\r\u0085",
      data: { ["\u001b".repeat(5000)]: 1 },
    })
    const deep = forge(lines[1] ?? "", { data: {} }).replace(
      '"data":{}',
      `"data":{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
    )
    await writeFile(folder.path, `${[...lines, forged, deep].join("\n")}\n`)
    await appendFile(folder.path, Buffer.alloc(17 * 1024 * 1024, "x"))
    await appendFile(folder.path, Buffer.from([10, 0, 255, 254, 27, 91, 50, 74, 10]))
    await appendFile(folder.path, `${last(lines)}\n`)
    for (const args of [["show"], ["report"], ["tail", "--no-follow"], ["export", "--format", "csv"]]) {
      const [name = "", ...rest] = args
      const { code, stdout, stderr } = await glovebox(["audit", name, folder.path, ...rest])
      expect([name, code]).toEqual([name, name === "report" ? 1 : 0])
      // A CSV is for a program, and no terminal reads it.
      const shown = name === "export" ? "" : stdout
      expect(shown.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\u202e]/u)
      expect(Math.max(...shown.split("\n").map((line) => line.length))).toBeLessThan(20_000)
      expect(stderr.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\u202e]/u)
      expect(stderr).toContain("is no record")
    }
  })

  it("tells in a few lines of a file that is no log", async () => {
    await using folder = await AuditFolder.make()
    await writeFile(folder.path, Buffer.alloc(100_000, "\u001b\n"))
    const { code, stdout, stderr } = await glovebox(["audit", "show", folder.path])
    expect([code, stdout]).toEqual([3, ""])
    expect(stderr).toContain("49995 more lines are no records\n")
    expect(stderr).toContain("holds no records.\n")
    expect(stderr.split("\n").length).toBeLessThan(12)
  })

  it("says that a log cannot be read", async () => {
    await using folder = await AuditFolder.make()
    await symlink(folder.path, folder.path)
    const { code, stderr } = await glovebox(["audit", "show", folder.path])
    expect(code).toBe(3)
    expect(stderr).toContain("cannot be read: ELOOP")
  })

  it("ends quietly when its reader leaves", async () => {
    await using folder = await AuditFolder.make()
    await folder.write(20_000)
    const child = spawn("sh", [
      "-c",
      `"$0" "$1" audit show "$2" | head -1`,
      process.execPath,
      bin,
      folder.path,
    ])
    const { stdout, stderr } = await ended(child)
    expect(stdout.split("\n")).toHaveLength(2)
    expect(stderr).toBe("")
  })
})

describe("glovebox audit tail", () => {
  it("goes on over full files, and ends by an interrupt", async () => {
    await using folder = await AuditFolder.make()
    await using log = folder.log({ maxFileBytes: 2_000, sync: "record" })
    await log.append(note("before"))
    const child = startGlovebox("audit", "tail", folder.path, "--kind", "custom", "--json", "-n", "1")
    const seen: string[] = []
    const wanted = Array.from({ length: 20 }, (_, index) => `after ${index}`)
    const end = ended(child)
    for await (const line of createInterface({ input: child.stdout })) {
      seen.push((JSON.parse(line) as { data: { name: string } }).data.name)
      if (seen.length === 1) for (const name of wanted) await log.append(note(name))
      if (seen.length === 21) break
    }
    child.kill("SIGINT")
    expect(await end).toMatchObject({ code: 130, stderr: "" })
    expect(seen).toEqual(["before", ...wanted])
  })

  it("waits for a log that is not there yet", async () => {
    await using folder = await AuditFolder.make()
    const child = startGlovebox("audit", "tail", folder.path)
    const end = ended(child)
    await once(child.stderr, "data")
    // Before the log is there: what is read at once must not come before somebody listens.
    const told = once(child.stdout, "data")
    await folder.write(1)
    await told
    child.kill("SIGINT")
    const { code, stderr } = await end
    expect(code).toBe(130)
    expect(stderr).toBe(`glovebox: ${folder.path} is not there yet; waiting for it\n`)
  })
})

describe("glovebox audit export", () => {
  it("refuses what is no file of its own", async () => {
    await using folder = await AuditFolder.make()
    await using log = folder.log()
    await recordDemoRun(log)
    const { code, stderr } = await glovebox(["audit", "export", folder.path, "--out", "/dev/full"])
    expect(code).toBe(1)
    expect(stderr).toContain("/dev/full")
    expect(await readFile(folder.path, "utf8")).toContain("run-7")
  })
})
