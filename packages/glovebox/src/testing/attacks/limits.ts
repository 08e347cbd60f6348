import assert from "node:assert/strict"
import type { CodeExecutor } from "../../executors/index.ts"
import { stillWorks, within } from "../expectations.ts"
import { python } from "../programs.ts"
import type { Suite } from "../suite.ts"

/** Bombs, and the bounds they meet. */
export function defineLimits({ it, itIf, shared, subject, programs }: Suite): void {
  const { limits, session } = subject.features
  // What fills a session's workspace stays in it.
  const emptied = async (executor: CodeExecutor): Promise<void> => {
    if (session) await executor.restart()
  }

  itIf(limits.includes("memory"), "a memory bomb ends by the limit on memory", async () => {
    await using executor = subject.create({ memory: "96MiB", timeout: "30s" })
    const bomb = python(`print("so far", flush=True)
hoard = []
while True: hoard.append(bytearray(4_000_000))`)
    const { termination, exitCode, blocks, stdout } = await within(
      executor.executeCodeBlocks([bomb]),
      40,
      "it",
    )
    assert.deepEqual([termination, exitCode, stdout], ["oom", 137, "so far\n"])
    assert.ok(blocks[0]?.limitsHit.includes("memory"))
    await stillWorks(executor, programs.print)
  })

  itIf(
    limits.includes("memory") && limits.includes("pids"),
    "a memory bomb of many small processes ends by it too",
    async () => {
      await using executor = subject.create({ memory: "96MiB", timeout: "30s" })
      const bomb = python(`import os, time
try: open("/proc/self/oom_score_adj", "w").write("0")
except OSError: pass
for _ in range(100):
    if os.fork() == 0:
        try: open("/proc/self/oom_score_adj", "w").write("0")
        except OSError: pass
        hoard = bytearray(os.urandom(1 << 20) * 4)
        time.sleep(60)
hoard = bytearray(os.urandom(1 << 20) * 8)
while True: time.sleep(1); hoard += hoard`)
      const { termination } = await within(executor.executeCodeBlocks([bomb]), 40, "the bomb")
      assert.equal(termination, "oom")
      await stillWorks(executor, programs.print)
    },
  )

  itIf(limits.includes("memory"), "files in memory count as memory, and the end is the limit's", async () => {
    await using executor = subject.create({ memory: "96MiB", workspace: "512MiB", timeout: "30s" })
    const bomb = python(`with open("bomb", "wb") as file:
    while True: file.write(bytes(1 << 20))`)
    const { termination } = await within(executor.executeCodeBlocks([bomb]), 40, "the bomb")
    assert.ok(["oom", "disk-full"].includes(termination), termination)
    await emptied(executor)
    await stillWorks(executor, programs.print)
  })

  itIf(limits.includes("workspace"), "a disk bomb meets the bound of the workspace", async () => {
    await using executor = subject.create({ workspace: "8MiB", carry: { maxBytes: 1_000_000 } })
    const bomb = python(`with open("bomb", "wb", buffering=0) as file:
    while True: file.write(b"x" * 100_000)`)
    const result = await executor.executeCodeBlocks([bomb])
    const { termination, exitCode, stderr, artifacts, artifactsTruncated, blocks } = result
    assert.deepEqual([termination, exitCode, artifacts.length, artifactsTruncated], ["disk-full", 1, 0, true])
    assert.match(stderr, /No space left on device/)
    assert.ok(blocks[0]?.limitsHit.includes("workspace"))
    await emptied(executor)
    await stillWorks(executor, programs.print)
  })

  itIf(limits.includes("files"), "a bomb of empty files meets the bound of their number", async () => {
    await using executor = subject.create({ files: 2000, carry: { maxFiles: 100 } })
    const bomb = python(`number = 0
while True:
    open(f"f{number}", "w").close()
    number += 1`)
    const { termination, exitCode, artifacts, artifactsTruncated } = await executor.executeCodeBlocks([bomb])
    assert.deepEqual([termination, exitCode, artifactsTruncated], ["disk-full", 1, true])
    assert.ok(artifacts.length <= 100)
    await emptied(executor)
    await stillWorks(executor, programs.print)
  })

  const hasMounts = subject.features.processes
  itIf(
    limits.includes("workspace") && hasMounts,
    "every other place that can be written is bounded too",
    async () => {
      const probe = python(`import os
places = set()
for line in open("/proc/mounts"):
    _, place, kind, flags = line.split()[:4]
    if os.access(place, os.W_OK) and os.path.isdir(place): places.add(place)
for place in sorted(places):
    total = 0
    path = os.path.join(place, "bomb")
    try:
        with open(path, "wb", buffering=0) as file:
            while total < 300 << 20: total += file.write(bytes(1 << 20))
    except OSError: pass
    try: os.remove(path)
    except OSError: pass
    print(place, total < 300 << 20)`)
      const { stdout, exitCode } = await within(shared().executeCodeBlocks([probe]), 60, "the probe")
      assert.equal(exitCode, 0)
      for (const line of stdout.trim().split("\n")) assert.match(line, / True$/)
    },
  )

  it("very many files, and files that grow to terabytes on paper, are cut short on their way back", async () => {
    const { artifacts, artifactsTruncated, exitCode } = await shared().executeCodeBlocks([
      python(`import os
os.mkdir("many")
for number in range(6000):
    open(f"many/{number}", "w").write("x")
with open("zz-sparse", "wb") as file:
    try: file.truncate(1 << 40)
    except OSError: file.truncate(200 << 20)`),
    ])
    assert.deepEqual([exitCode, artifactsTruncated], [0, true])
    assert.ok(artifacts.length <= 4096, `${artifacts.length}`)
    assert.ok(artifacts.reduce((sum, { size }) => sum + size, 0) <= 64 * 1024 ** 2)
    await stillWorks(shared(), programs.print)
    await shared().executeCodeBlocks([
      python(
        `import os, shutil\nshutil.rmtree("many", ignore_errors=True)\nif os.path.exists("zz-sparse"): os.remove("zz-sparse")`,
      ),
    ])
  })

  it("an endless flood of output ends by the limit or the deadline, and memory stays bounded", async () => {
    await using executor = subject.create({ timeout: "20s", output: 64 * 1024 })
    const before = process.memoryUsage().rss
    const { termination, truncated, stdout } = await within(
      executor.executeCodeBlocks([python(`import os\nwhile True: os.write(1, b"flood " * 10_000)`)]),
      60,
      "the flood",
    )
    assert.ok(["output-limit", "timeout"].includes(termination), termination)
    assert.equal(truncated, true)
    assert.ok(stdout.length < 70_000, `${stdout.length}`)
    const grown = process.memoryUsage().rss - before
    assert.ok(grown < 300 * 1024 ** 2, `this process grew by ${grown} bytes`)
    await stillWorks(executor, programs.print)
  })
}
