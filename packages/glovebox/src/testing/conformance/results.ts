import assert from "node:assert/strict"
import { createHash } from "node:crypto"
import { succeed } from "../expectations.ts"
import { python, sh } from "../programs.ts"
import type { Suite } from "../suite.ts"

/** What a call gives back. */
export function defineResults({ it, itIf, shared, subject, programs }: Suite): void {
  it("a program that ends well gives its output, one block, and a report of the sandbox", async () => {
    const block = programs.print("hello\n")
    const result = await succeed(shared(), block)
    const hash = createHash("sha256").update(block.code).digest("hex")
    const { sandbox, durationMs, blocks, outputs = [], stateLost = false, ...rest } = result
    const text = { output: "hello\n", stdout: "hello\n", stderr: "" }
    assert.deepEqual(rest, {
      ...text,
      exitCode: 0,
      termination: "exit",
      truncated: false,
      artifacts: [],
      artifactsTruncated: false,
      codeFile: `tmp_code_${hash}.${programs.extension}`,
    })
    assert.equal(blocks.length, 1)
    const { durationMs: ofBlock, outputs: shown = [], ...block0 } = blocks[0]!
    assert.deepEqual([outputs, shown, stateLost], [[], [], false])
    assert.deepEqual(block0, {
      ...text,
      language: programs.language,
      codeFile: result.codeFile,
      exitCode: 0,
      termination: "exit",
      limitsHit: [],
      truncated: false,
    })
    assert.ok(ofBlock > 0 && durationMs >= ofBlock, `${durationMs} ms in all, ${ofBlock} ms for the block`)
    assert.match(sandbox.policySha256, /^[0-9a-f]{64}$/)
    assert.equal(sandbox.isolation, subject.features.session ? "session" : "run")
    assert.ok(sandbox.kind.length > 0 && Object.keys(sandbox.effective).length > 0)
  })

  it("an exit code is the program's own, also 124, which is not a timeout", async () => {
    for (const code of [3, 124, 255]) {
      const { exitCode, termination, blocks } = await shared().executeCodeBlocks([programs.exit(code)])
      assert.deepEqual({ exitCode, termination }, { exitCode: code, termination: "exit" })
      assert.equal(blocks[0]?.signal, undefined)
      assert.deepEqual(blocks[0]?.limitsHit, [])
    }
  })

  itIf(subject.features.processes && subject.languages.includes("sh"), "a signal is named", async () => {
    for (const [name, number] of [
      ["SIGKILL", 9],
      ["SIGSEGV", 11],
    ] as const) {
      const { exitCode, termination, blocks } = await shared().executeCodeBlocks([sh(`kill -${number} $$`)])
      assert.deepEqual(
        { exitCode, termination, signal: blocks[0]?.signal },
        { exitCode: 128 + number, termination: "signal", signal: name },
      )
    }
  })

  itIf(
    programs.language === "python",
    "an uncaught exception is on stderr, with the code's file",
    async () => {
      const { exitCode, stderr, stdout, codeFile } = await shared().executeCodeBlocks([
        python("print('before')\nraise ValueError('no good')"),
      ])
      assert.deepEqual({ exitCode, stdout }, { exitCode: 1, stdout: "before\n" })
      assert.match(stderr, /^Traceback[^]*line 2[^]*ValueError: no good\n$/)
      assert.ok(stderr.includes(codeFile), stderr)
    },
  )

  it("stdout and stderr are apart, and together in the order they were written", async () => {
    const { output, stdout, stderr } = await succeed(shared(), programs.alternate(["a", "1", "b", "2", "c"]))
    assert.deepEqual([stdout, stderr], ["abc", "12"])
    if (!subject.features.unordered) assert.equal(output, "a1b2c")
  })

  it("blocks run in order, each with a result of its own, and their outputs are joined as they are", async () => {
    const result = await succeed(
      shared(),
      programs.print("one"),
      programs.printError("two"),
      programs.empty,
      programs.print("three"),
    )
    assert.deepEqual(
      result.blocks.map(({ stdout, stderr }) => [stdout, stderr]),
      [
        ["one", ""],
        ["", "two"],
        ["", ""],
        ["three", ""],
      ],
    )
    assert.deepEqual(
      [result.output, result.stdout, result.stderr],
      ["onetwothree", "onethree", "two"],
      "the call's output",
    )
    assert.equal(result.codeFile, result.blocks[0]?.codeFile)
  })

  it("the first block that fails is the last: later ones are neither run nor written", async () => {
    const result = await shared().executeCodeBlocks([
      programs.print("first"),
      programs.exit(7),
      { ...programs.empty, code: `${programs.comment} filename: never.txt\n` },
    ])
    assert.deepEqual([result.exitCode, result.output, result.blocks.length], [7, "first", 2])
    assert.equal((await succeed(shared(), programs.show("never.txt"))).stdout, "absent")
  })

  it("text comes back byte for byte", async () => {
    const text = "tab\tno end\r\nümläut 漢字 🧤 \u00e9 e\u0301\n\n  "
    assert.equal((await succeed(shared(), programs.print(text))).stdout, text)
  })

  it("the working folder is the workspace, and what is written there is found there", async () => {
    const { stdout } = await succeed(
      shared(),
      programs.folder,
      programs.write("here.txt", "x"),
      programs.folder,
    )
    const [before, after] = stdout.trim().split("\n")
    assert.ok(before?.startsWith("/") && before === after, stdout)
    assert.equal(
      (await succeed(shared(), programs.show(`${before}/here.txt`))).stdout !== "absent",
      subject.features.files,
    )
  })
}
