import assert from "node:assert/strict"
import { createHash } from "node:crypto"
import type { Artifact } from "../../executors/index.ts"
import { succeed } from "../expectations.ts"
import { python } from "../programs.ts"
import type { Suite } from "../suite.ts"

const MAKE = `import os
os.makedirs("kept/sub/deep")
def write(path, content):
    with open("kept/" + path, "wb") as file:
        file.write(content)
write("text.txt", "grüße\\n".encode())
write("sub/deep/binary.bin", bytes(range(256)) * 700)
write("empty", b"")
write("naïve 漢字 🧤.txt", b"unicode")
write(" spaces and 'quotes' \\"too\\"", b"spaced")
write("run.sh", b"#!/bin/sh\\necho ran\\n")
os.chmod("kept/run.sh", 0o755)`

const LIST = `import hashlib, json, os
found = {}
for folder, _, names in os.walk("kept"):
    for name in names:
        path = os.path.join(folder, name)
        digest = hashlib.sha256(open(path, "rb").read()).hexdigest()
        found[path] = [os.path.getsize(path), digest, os.access(path, os.X_OK)]
print(json.dumps(found))`

const EXPECTED: Readonly<Record<string, [content: Buffer, executable: boolean]>> = {
  "kept/text.txt": [Buffer.from("grüße\n"), false],
  "kept/sub/deep/binary.bin": [
    Buffer.concat(Array.from({ length: 700 }, () => Buffer.from(Array.from({ length: 256 }, (_, i) => i)))),
    false,
  ],
  "kept/empty": [Buffer.alloc(0), false],
  "kept/naïve 漢字 🧤.txt": [Buffer.from("unicode"), false],
  [`kept/ spaces and 'quotes' "too"`]: [Buffer.from("spaced"), false],
  "kept/run.sh": [Buffer.from("#!/bin/sh\necho ran\n"), true],
}

function sha256(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex")
}

function paths(artifacts: readonly Artifact[]): string[] {
  return artifacts.map(({ path }) => path).toSorted()
}

/** Files between calls, and what comes back of them. */
export function defineFiles({ it, itIf, shared, subject, programs }: Suite): void {
  const { features } = subject
  const hasPython = programs.language === "python"

  it("a file that code makes is an artifact, with its exact content; the code itself is none", async () => {
    const { artifacts, artifactsTruncated } = await succeed(
      shared(),
      { ...programs.empty, code: `${programs.comment} filename: named-code.txt\n` },
      programs.write("made.txt", "made ü"),
    )
    const content = Buffer.from("made ü")
    assert.equal(artifactsTruncated, false)
    assert.deepEqual(
      artifacts.map((artifact) => ({ ...artifact, content: Buffer.from(artifact.content) })),
      [{ path: "made.txt", size: 7, sha256: sha256(content), executable: false, content }],
    )
  })

  it("files made by code that then fails come back too", async () => {
    const { artifacts, exitCode } = await shared().executeCodeBlocks([
      programs.write("of-failure.txt", "x"),
      programs.exit(1),
    ])
    assert.deepEqual([exitCode, paths(artifacts)], [1, ["of-failure.txt"]])
  })

  itIf(hasPython, "a code file that code changed is an artifact", async () => {
    const { artifacts } = await succeed(shared(), python(`open(__file__, "a").write("# more")`))
    assert.equal(artifacts.length, 1)
    assert.match(Buffer.from(artifacts[0]!.content).toString(), /# more$/)
  })

  itIf(features.files && !hasPython, "files are there in the next call, and gone when removed", async () => {
    await succeed(shared(), programs.write("simple.txt", "kept"))
    const again = await succeed(shared(), programs.show("simple.txt"))
    assert.deepEqual([again.stdout, again.artifacts], ["kept", []])
    await succeed(shared(), { language: "sh", code: "rm simple.txt" })
    assert.equal((await succeed(shared(), programs.show("simple.txt"))).stdout, "absent")
  })

  itIf(
    features.files && hasPython,
    "files of every kind are there in the next call, and are artifacts once",
    async () => {
      const made = await succeed(shared(), python(MAKE))
      assert.deepEqual(paths(made.artifacts), Object.keys(EXPECTED).toSorted())
      for (const { path, content, executable, size, sha256: digest } of made.artifacts) {
        const [expected, isExecutable] = EXPECTED[path]!
        assert.ok(Buffer.from(content).equals(expected), path)
        assert.deepEqual([size, digest, executable], [expected.length, sha256(expected), isExecutable], path)
      }
      const listed = await succeed(shared(), python(LIST))
      assert.deepEqual(listed.artifacts, [])
      assert.deepEqual(
        JSON.parse(listed.stdout),
        Object.fromEntries(
          Object.entries(EXPECTED).map(([path, [content, executable]]) => [
            path,
            [content.length, sha256(content), executable],
          ]),
        ),
      )
    },
  )

  itIf(
    features.files && hasPython,
    "what is removed, renamed or changed is so in the next call",
    async () => {
      const make = `import os
for name in ("gone", "moved", "changed", "switched", "same"):
    open("c-" + name, "w").write(name)`
      await succeed(shared(), python(make))
      const change = `import os
os.remove("c-gone")
os.rename("c-moved", "c-arrived")
open("c-changed", "w").write("other")
os.chmod("c-switched", 0o755)`
      const changed = await succeed(shared(), python(change))
      assert.deepEqual(paths(changed.artifacts), ["c-arrived", "c-changed", "c-switched"])
      const list = `import os
print(sorted((n, open(n).read(), os.access(n, os.X_OK)) for n in os.listdir() if n.startswith("c-")))`
      const { stdout } = await succeed(shared(), python(list))
      assert.equal(
        stdout,
        "[('c-arrived', 'moved', False), ('c-changed', 'other', False), ('c-same', 'same', False), ('c-switched', 'switched', True)]\n",
      )
    },
  )

  itIf(
    features.files && hasPython,
    "a file can become a folder between calls, and a folder a file",
    async () => {
      await succeed(
        shared(),
        python(`import os; os.mkdir("x-dir"); open("x-dir/in", "w"); open("x-file", "w")`),
      )
      await succeed(
        shared(),
        python(`import os, shutil
shutil.rmtree("x-dir"); open("x-dir", "w").write("now a file")
os.remove("x-file"); os.mkdir("x-file"); open("x-file/in", "w").write("now a folder")`),
      )
      const { stdout } = await succeed(
        shared(),
        python(`print(open("x-dir").read(), open("x-file/in").read())`),
      )
      assert.equal(stdout, "now a file now a folder\n")
    },
  )

  it("more files than are carried are left out, and the result says so", async () => {
    await using few = subject.create({ carry: { maxFiles: 3 } })
    const blocks = Array.from({ length: 6 }, (_, index) => programs.write(`n${index}`, "x"))
    const { artifacts, artifactsTruncated, exitCode } = await few.executeCodeBlocks(blocks)
    assert.deepEqual([exitCode, artifactsTruncated], [0, true])
    assert.ok(artifacts.length <= 3, `${artifacts.length} artifacts`)
  })

  it("more bytes than are carried are left out, and the result says so", async () => {
    await using little = subject.create({ carry: { maxBytes: 1000 } })
    const { artifacts, artifactsTruncated, exitCode } = await little.executeCodeBlocks([
      programs.write("small", "x"),
      programs.write("zlarge", "x".repeat(2000)),
    ])
    assert.deepEqual([exitCode, artifactsTruncated, paths(artifacts)], [0, true, ["small"]])
  })

  it("without carrying there are no artifacts", async () => {
    await using executor = subject.create({ carry: false })
    const { artifacts, artifactsTruncated } = await succeed(executor, programs.write("a", "x"))
    assert.deepEqual([artifacts, artifactsTruncated], [[], false])
    if (features.session) return
    assert.equal((await succeed(executor, programs.show("a"))).stdout, "absent")
  })

  itIf(features.files && features.parallel, "files of calls at the same time are all kept", async () => {
    await using executor = subject.create({ concurrency: 3 })
    const names = ["p0", "p1", "p2", "p3", "p4", "p5"]
    await Promise.all(names.map(async (name) => succeed(executor, programs.write(name, name))))
    const { stdout } = await succeed(executor, ...names.map((name) => programs.show(name)))
    assert.equal(stdout, names.join(""))
  })
}
