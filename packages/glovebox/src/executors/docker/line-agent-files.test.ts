import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { GloveboxError } from "../../core/index.ts"
import { greeted, markerOf, file, entry, plain, collect, packed } from "./line-agent.test-kit.ts"

describe("LineAgent, putting", () => {
  it("sends files and removals as lines and bytes", async () => {
    const { agent, ...line } = await greeted()
    await agent.put([file("a b", "1\n2"), file("run", "", true)])
    agent.remove(["x", "y z"])
    await line.heard((sent) => sent.includes("del y z\n"))
    expect(line.sent().toString()).toBe("put 644 3 a b\n1\n2put 755 0 run\ndel x\ndel y z\n")
  })

  it("sends all of a file before what is asked for after it, although nobody waited", async () => {
    const { agent, ...line } = await greeted()
    const putting = agent.put([file("main.sh", "echo 1\n"), file("other", "2")])
    agent.run({ argv: ["sh", "main.sh"], how: "exec", onOutput: () => {} }).catch(() => {})
    await putting
    const marker = await markerOf({ ...line, agent }, "run")
    expect(line.sent().toString()).toBe(
      `put 644 7 main.sh\necho 1\nput 644 1 other\n2run ${marker} 2\nsh\nmain.sh\n`,
    )
    line.end()
  })

  it("sends large content whole", async () => {
    const { agent, ...line } = await greeted()
    const content = Buffer.alloc(2.5 * 1024 ** 2, "0123456789")
    await agent.put([{ path: "big", content, executable: false }])
    const head = `put 644 ${content.length} big\n`
    await line.heard((sent) => sent.length >= head.length + content.length)
    expect(line.sent().equals(Buffer.concat([Buffer.from(head), content]))).toBe(true)
  })
})

describe("LineAgent, collecting", () => {
  it("gives what is new or changed, and what is gone", async () => {
    const line = await greeted()
    await line.agent.put([file("same", "1"), file("changed", "1"), file("gone", "1")])
    const first = await collect(
      line,
      await packed(
        entry("./", "", { type: "directory" }),
        entry("./same", "1"),
        entry("./changed", "2"),
        entry("./new/run", "3", { mode: 0o755 }),
      ),
    )
    expect(plain(first.files)).toEqual(plain([file("changed", "2"), file("new/run", "3", true)]))
    expect([first.removed, first.over]).toEqual([["gone"], false])
    const again = await packed(
      entry("same", "1"),
      entry("changed", "2"),
      entry("new/run", "3", { mode: 0o755 }),
    )
    expect(await collect(line, again)).toEqual({ files: [], removed: [], over: false })
  })

  it("gives a file whose executable bit alone has changed", async () => {
    const line = await greeted()
    await line.agent.put([file("tool", "1")])
    const { files } = await collect(line, await packed(entry("tool", "1", { mode: 0o755 })))
    expect(plain(files)).toEqual(plain([file("tool", "1", true)]))
  })

  it("leaves behind links, devices, absolute names and names that climb", async () => {
    const line = await greeted()
    const archive = await packed(
      entry("link", "", { type: "symlink", linkname: "/etc/passwd" }),
      entry("hard", "", { type: "link", linkname: "../../etc/passwd" }),
      entry("device", "", { type: "character-device" }),
      entry("fifo", "", { type: "fifo" }),
      entry("folder", "", { type: "directory" }),
      entry("/etc/cron.d/x", "1"),
      entry("../up", "1"),
      entry("./a/../../up", "1"),
      entry("./../up", "1"),
      entry("new\nline", "1"),
      entry("C:\\x", "1"),
      entry("fine", "1"),
    )
    const { files, removed } = await collect(line, archive)
    expect(plain(files)).toEqual(plain([file("fine", "1")]))
    expect(removed).toEqual([])
  })

  it("carries no more than it was asked for, and says so", async () => {
    const line = await greeted()
    const archive = await packed(entry("a", "12345"), entry("b", "12345"), entry("c", "1"), entry("d", "1"))
    const limits = { maxFiles: 2, maxBytes: 8 }
    const { files, over } = await collect(line, archive, { limits })
    expect([files.map(({ path }) => path), over]).toEqual([["a", "c"], true])
  })

  it("keeps nothing of an archive that is far too large, and takes nothing for gone", async () => {
    const line = await greeted()
    await line.agent.put([file("kept", "1")])
    const archive = await packed(entry("big", "x".repeat(100_000)))
    const found = await collect(line, archive, { limits: { maxFiles: 1, maxBytes: 10 } })
    expect(found).toEqual({ files: [], removed: [], over: true })
  })

  it("takes no file for gone because the archive was cut short", async () => {
    const line = await greeted()
    await line.agent.put([file("a", "1"), file("b", "2")])
    const archive = await packed(entry("a", "1"), entry("b", "2"))
    // As when tar is killed for want of memory after its first file.
    const removed = await collect(line, archive.subarray(0, 1024), { status: 137 }).then(
      (found) => found.removed,
      (error: unknown) => (GloveboxError.is(error, "SANDBOX_BROKEN") ? [] : error),
    )
    expect(removed).toEqual([])
  })

  it("finds out what is no archive", async () => {
    for (const archive of [Buffer.alloc(512, "x"), Buffer.alloc(2048, 255)]) {
      const line = await greeted()
      await expectFailure(collect(line, archive), "SANDBOX_BROKEN")
      expect(line.agent.lost.aborted).toBe(true)
    }
  })

  it("fails as a broken sandbox, or gives only what a workspace takes, for any bytes", async () => {
    const whole = Buffer.from(await packed(entry("a", "1"), entry("b/c", "22"), entry("d", "")))
    const damage = fc.array(fc.tuple(fc.nat(whole.length - 1), fc.integer({ min: 0, max: 255 })), {
      maxLength: 6,
    })
    await fc.assert(
      fc.asyncProperty(damage, fc.nat(whole.length), async (changes, length) => {
        const archive = Buffer.from(whole)
        for (const [at, byte] of changes) archive[at] = byte
        const line = await greeted()
        const paths = await collect(line, archive.subarray(0, length)).then(
          ({ files }) => files.map(({ path }) => path),
          (error: unknown) => (GloveboxError.is(error, "SANDBOX_BROKEN") ? [] : [`/${String(error)}`]),
        )
        expect(paths.filter((path) => path.startsWith("/") || path.split("/").includes(".."))).toEqual([])
        line.end()
      }),
      { numRuns: 20 },
    )
  })
})
