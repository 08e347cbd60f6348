import assert from "node:assert/strict"
import { stillWorks, succeed, within } from "../expectations.ts"
import { python } from "../programs.ts"
import type { Suite } from "../suite.ts"

const CLEAN = python(`import os, shutil
for name in os.listdir(b"."):
    if name.startswith(b"tmp_code_"): continue
    if hasattr(os, "system"): os.system("chmod -R u+rwx .")
    try: shutil.rmtree(name) if os.path.isdir(name) and not os.path.islink(name) else os.remove(name)
    except OSError: pass`)

/** Files that are to confuse whoever brings them back. */
export function defineNames({ it, itIf, shared, subject, programs }: Suite): void {
  it("hostile names stay behind or come back as they are, and never lead out", async () => {
    const { artifacts, exitCode } = await shared().executeCodeBlocks([
      python(`import os
def make(name):
    try:
        with open(name, "w") as file: file.write("x")
    except OSError: pass
make("plain-name")
for name in ("new\\nline", "tab\\there", "\\x1b[31mred", "..hidden", "...", " ", "-rf", "--help", "a\\\\b", "C:x", "con", "n" * 255, "safe\\u202egnp.exe", "\\u2028", "%2e%2e", "~", "$HOME", "\`id\`", "a;b", "*"):
    make(name)
make(b"not-utf8-\\xff\\xfe")
os.mkdir(b"folder-\\xff"); make(b"folder-\\xff/in")`),
    ])
    assert.equal(exitCode, 0)
    const paths = artifacts.map(({ path }) => path)
    assert.ok(paths.includes("plain-name"), paths.join(", "))
    for (const path of paths) {
      assert.doesNotMatch(path, /[\p{Cc}\p{Zl}\p{Zp}\u202A-\u202E]|^\/|(?:^|\/)\.\.(?:\/|$)|\\/u)
    }
    assert.ok(paths.includes("n".repeat(255)) && paths.includes("$HOME") && paths.includes("..."))
    await succeed(shared(), CLEAN)
  })

  itIf(subject.features.processes, "special files are no artifacts and block nobody", async () => {
    const { artifacts, stdout } = await within(
      succeed(
        shared(),
        python(`import os, socket
os.mkfifo("a-fifo")
server = socket.socket(socket.AF_UNIX); server.bind("a-socket")
for kind, number in ((0o020666, os.makedev(1, 5)), (0o060666, os.makedev(8, 0))):
    try: os.mknod("a-device", kind, number); print("DEVICE")
    except OSError: pass
open("unreadable", "w").write("x"); os.chmod("unreadable", 0)
os.mkdir("closed"); open("closed/in", "w").write("x"); os.chmod("closed", 0)
open("regular", "w").write("x");`),
      ),
      40,
      "the call",
    )
    assert.equal(stdout, "")
    const paths = artifacts.map(({ path }) => path)
    assert.ok(paths.includes("regular"))
    assert.deepEqual(
      paths.filter((path) => path.startsWith("a-")),
      [],
    )
    await stillWorks(shared(), programs.print)
    await succeed(shared(), CLEAN)
  })

  it("a tree of folders deeper than any path may be long does not spoil the run", async () => {
    const { exitCode, artifacts } = await within(
      shared().executeCodeBlocks([
        python(`import os
open("shallow", "w").write("x")
os.mkdir("deep"); os.chdir("deep")
for _ in range(60):
    os.mkdir("d" * 250); os.chdir("d" * 250)
    open("leaf", "w").write("x")
for _ in range(500):
    os.mkdir("e"); os.chdir("e")
open("leaf", "w").write("x")`),
      ]),
      60,
      "the call",
    )
    assert.equal(exitCode, 0)
    assert.ok(artifacts.some(({ path }) => path === "shallow"))
    await stillWorks(shared(), programs.print)
    await succeed(
      shared(),
      python(`import os
if hasattr(os, "system"): os.system("rm -rf deep shallow")`),
    )
  })

  itIf(
    subject.features.processes,
    "a workspace that is taken away under the run gives a result or a typed error",
    async () => {
      await using executor = subject.create()
      const outcome = await within(
        executor
          .executeCodeBlocks([
            python(`import os, shutil\nos.chmod(".", 0)\nprint("closed the folder")`),
            python(`print("next")`),
          ])
          .then(
            ({ exitCode }) => `result ${exitCode}`,
            (error: { code?: string }) => `error ${error.code}`,
          ),
        60,
        "the call",
      )
      assert.match(outcome, /^(?:result \d+|error (?:WORKSPACE_FAILED|SANDBOX_LOST|SANDBOX_BROKEN))$/)
      if (!subject.features.session) await stillWorks(executor, programs.print)
    },
  )
}
