import assert from "node:assert/strict"
import { createHash } from "node:crypto"
import { existsSync } from "node:fs"
import { rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { CodeBlock, CodeResult } from "../../executors/index.ts"
import { GloveboxError } from "../../core/index.ts"
import { stillWorks, succeed } from "../expectations.ts"
import { literal, python } from "../programs.ts"
import type { Suite } from "../suite.ts"

function plant(name: string, target: string): CodeBlock {
  return python(`import os
if os.path.lexists(${literal(name)}): os.remove(${literal(name)})
os.symlink(${literal(target)}, ${literal(name)})`)
}

/** Links that are to make the host, or the sandbox's own agent, write or read elsewhere. */
export function defineLinks({ it, shared, programs }: Suite): void {
  const outside = join(tmpdir(), `glovebox-outside-${process.pid}`)

  it("a link in the place of the next block's file is replaced, not followed", async () => {
    for (const code of ["print('next block')", "# filename: named.py\nprint('next block')"]) {
      const hash = createHash("sha256").update(code).digest("hex")
      const name = code.startsWith("#") ? "named.py" : `tmp_code_${hash}.py`
      for (const target of ["/tmp/pwned-by-link", outside]) {
        const check = python(`import os
print(os.path.islink(${literal(name)}), os.path.lexists(${literal(target)}), open(${literal(name)}).read() == ${literal(code)})`)
        const { stdout } = await succeed(shared(), plant(name, target), python(code), check)
        assert.equal(stdout, "next block\nFalse False True\n")
        assert.equal(existsSync(outside), false, "a file of the host was written")
      }
    }
  })

  it("a link in the place of a folder above the next file is not followed", async () => {
    const blocks = [plant("via", "/tmp"), python("# filename: via/inner.py\nprint('ran')")]
    const outcome = await settled(shared().executeCodeBlocks(blocks))
    assertRefusedOr(outcome, (result) => result.exitCode !== 0)
    await stillWorks(shared(), programs.print)
  })

  it("a folder in the place of the next file gives an error or its place, and never runs what is in it", async () => {
    const code = "print('the block itself')"
    const name = `tmp_code_${createHash("sha256").update(code).digest("hex")}.py`
    const blocks = [
      python(`import os
os.mkdir(${literal(name)})
open(${literal(`${name}/__main__.py`)}, "w").write("print('planted')");`),
      python(code),
    ]
    const outcome = await settled(shared().executeCodeBlocks(blocks))
    assertRefusedOr(outcome, ({ stdout }) => stdout === "the block itself\n")
    await stillWorks(shared(), programs.print)
  })

  it("links are no artifacts, and nothing that they lead to comes out", async () => {
    await writeFile(outside, "of the host")
    try {
      const { artifacts } = await succeed(
        shared(),
        python(`import os
os.symlink("/etc/passwd", "a-link")
os.symlink(${literal(outside)}, "b-link")
os.symlink("/", "root-link")
os.symlink("loop-b", "loop-a"); os.symlink("loop-a", "loop-b")
os.mkdir("linked"); os.symlink("..", "linked/up")
open("plain", "w").write("plain")
try:
    os.link("/etc/passwd", "hard-link")
except OSError as error:
    print("refused", error.errno)`),
      )
      const paths = artifacts.map(({ path }) => path)
      assert.deepEqual(paths, ["plain"])
      await succeed(
        shared(),
        python(`import os, shutil
for name in ("a-link", "b-link", "root-link", "loop-a", "loop-b", "plain"):
    if os.path.lexists(name): os.remove(name)
shutil.rmtree("linked", ignore_errors=True)`),
      )
    } finally {
      await rm(outside, { force: true })
    }
  })

  it("a program that swaps a file for a link while files come back wins nothing", async () => {
    const { artifacts } = await shared().executeCodeBlocks([
      python(`import os, subprocess
open("swapped", "w").write("mine")
subprocess.Popen(["sh", "-c", "while :; do ln -sf /etc/passwd swapped; rm -f swapped; echo mine > swapped; done"], start_new_session=True)`),
    ])
    for (const { path, content } of artifacts) {
      assert.ok(!Buffer.from(content).toString().includes("root:"), path)
    }
    await stillWorks(shared(), programs.print)
  })
}

type Outcome = { readonly result: CodeResult } | { readonly error: unknown }

async function settled(promise: Promise<CodeResult>): Promise<Outcome> {
  return promise.then(
    (result) => ({ result }),
    (error: unknown) => ({ error }),
  )
}

function assertRefusedOr(outcome: Outcome, isFine: (result: CodeResult) => boolean): void {
  if ("error" in outcome) {
    assert.ok(GloveboxError.is(outcome.error, "WORKSPACE_FAILED"), String(outcome.error))
  } else {
    assert.ok(isFine(outcome.result), outcome.result.output)
  }
}
