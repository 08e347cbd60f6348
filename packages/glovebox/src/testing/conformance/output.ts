import assert from "node:assert/strict"
import { begin, rejectionOf, stillWorks, succeed, within } from "../expectations.ts"
import { python } from "../programs.ts"
import type { Suite } from "../suite.ts"

const MiB = 1024 ** 2

/** What code reads and writes besides files. */
export function defineOutput({ it, itIf, shared, subject, programs }: Suite): void {
  const hasPython = programs.language === "python"

  it("there is nothing to read on stdin", async () => {
    assert.equal((await succeed(shared(), programs.readLine)).stdout, "closed\n")
  })

  it("the environment is the executor's own, and nothing of the host's", async () => {
    const secret = "sk-glovebox-conformance-secret"
    process.env["GLOVEBOX_CONFORMANCE_SECRET"] = secret
    try {
      await using executor = subject.create({ env: { GREETING: "hällo = there", EMPTY: "" } })
      const { stdout } = await succeed(executor, programs.environment)
      const lines = stdout.split("\n")
      assert.ok(lines.includes("GREETING=hällo = there") && lines.includes("EMPTY="), stdout)
      assert.ok(!stdout.includes(secret) && !stdout.includes("GLOVEBOX_CONFORMANCE"), stdout)
      // What every shell and language has anyway says nothing of the host.
      const harmless =
        /^(?:PATH|HOME|PWD|OLDPWD|SHLVL|_|LANG|LANGUAGE|LC_\w+|TZ|HOSTNAME|TMPDIR|USER|LOGNAME|SHELL|PYTHON\w*|PIP_\w*|MPL\w+|GREETING|EMPTY)=/
      assert.deepEqual(
        lines.filter((line) => line !== "" && !harmless.test(line)),
        [],
      )
    } finally {
      delete process.env["GLOVEBOX_CONFORMANCE_SECRET"]
    }
  })

  itIf(hasPython, "bytes that are no UTF-8 become U+FFFD, and characters in pieces stay whole", async () => {
    const texts: string[] = []
    const { stdout, exitCode } = await shared().executeCodeBlocks(
      [
        python(`import sys, time
out = sys.stdout.buffer
out.write(b"a\\xff\\xfeb\\xc3(\\x00|"); out.flush()
for byte in "ü漢🧤".encode():
    out.write(bytes([byte])); out.flush(); time.sleep(0.02)
out.write(b"|\\xf0\\x9f");`),
      ],
      { onOutput: ({ text }) => texts.push(text) },
    )
    assert.equal(exitCode, 0)
    assert.equal(stdout, "a\uFFFD\uFFFDb\uFFFD(\0|ü漢🧤|\uFFFD")
    assert.equal(texts.join(""), stdout)
  })

  it("text that looks like a protocol's is output like any other", async () => {
    const marker = "0123456789abcdef".repeat(3)
    const forged = `ready 1 sh=/bin/sh\n${marker} 0 -\n${marker}\nx{"id":1,"code":0,"signal":null,"limits":[]}\nkill\n`
    const both = await shared().executeCodeBlocks([programs.alternate([forged, forged, forged])])
    assert.deepEqual([both.stdout, both.stderr, both.exitCode], [forged + forged, forged, 0])
  })

  itIf(hasPython, "100 MB on one line are cut in the middle, and the program runs to its end", async () => {
    const code = `import sys
sys.stdout.write("head" + "x" * 100_000_000 + "tail");`
    const { stdout, output, truncated, exitCode, termination, blocks } = await shared().executeCodeBlocks([
      python(code),
    ])
    assert.deepEqual(
      { exitCode, termination, truncated },
      { exitCode: 0, termination: "exit", truncated: true },
    )
    assert.ok(blocks[0]?.limitsHit.includes("output"))
    for (const text of [stdout, output]) {
      assert.ok(text.startsWith("headxxx") && text.endsWith("xxxtail"), text.slice(0, 100))
      assert.ok(text.length < 2 * MiB, `${text.length}`)
    }
  })

  it("output beyond the limit is cut in the middle, of each stream and of both", async () => {
    await using executor = subject.create({ output: 4096 })
    const long = `<${"y".repeat(20_000)}>`
    const result = await executor.executeCodeBlocks([programs.print(long), programs.print("second block")])
    const [first, second] = result.blocks
    assert.deepEqual([first?.truncated, second?.truncated, result.truncated], [true, false, true])
    assert.deepEqual([first?.termination, first?.limitsHit], ["exit", ["output"]])
    assert.ok(first && first.stdout.startsWith("<yy") && first.stdout.endsWith("yy>"))
    assert.ok(first.stdout.length < 4096 + 200, `${first.stdout.length}`)
    assert.equal(second?.stdout, "second block")
  })

  itIf(hasPython, "output is given while the code runs, in order, with its stream and block", async () => {
    const events: string[] = []
    const code = python(`import sys, time
for number in range(3):
    print("o", number, flush=True); time.sleep(0.05)
    print("e", number, file=sys.stderr, flush=True); time.sleep(0.05)`)
    const result = await shared().executeCodeBlocks([programs.print("x\n"), code], {
      onOutput: ({ type, block, text }) => events.push(`${block} ${type} ${text}`),
    })
    assert.equal(result.exitCode, 0)
    assert.deepEqual(events, [
      "0 stdout x\n",
      ...[0, 1, 2].flatMap((number) => [`1 stdout o ${number}\n`, `1 stderr e ${number}\n`]),
    ])
  })

  it("output comes before the code has ended", async () => {
    const controller = new AbortController()
    const { result, spoke } = begin(shared(), [programs.wait("I am running")], { signal: controller.signal })
    assert.equal(await within(spoke, 30, "the first output"), "I am running")
    // It would run for ever: that it spoke is proof that it had not ended.
    controller.abort(new Error("heard enough"))
    assert.match(String(await rejectionOf(result)), /heard enough/)
  })

  it("an error in the caller's own onOutput ends the run and is what the call rejects with", async () => {
    const mistake = new Error("a mistake of the caller")
    const call = shared().executeCodeBlocks([programs.wait("on")], {
      onOutput: () => {
        throw mistake
      },
    })
    assert.equal(await within(rejectionOf(call), 30, "the call"), mistake)
    await stillWorks(shared(), programs.print)
  })

  itIf(hasPython, "very many tiny writes all arrive", async () => {
    const code = `import os
for number in range(20_000):
    os.write(1 + number % 2, b"%d\\n" % (number % 10))`
    const { stdout, stderr, output } = await succeed(shared(), python(code))
    assert.equal(stdout, "0\n2\n4\n6\n8\n".repeat(2000))
    assert.equal(stderr, "1\n3\n5\n7\n9\n".repeat(2000))
    assert.equal(output.length, 40_000)
  })
}
