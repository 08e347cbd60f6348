import { mkdtemp, readFile, readdir, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { HAS_NO_DOCKER, cell, jupyter } from "./jupyter-subject.test-kit.ts"

const SHOW = "from IPython.display import *\ndisplay(HTML('shown'))\n"

describe.skipIf(HAS_NO_DOCKER)("the files of what a kernel shows", () => {
  it("files of outputs go to workDir and take nobody's place", async () => {
    const folder = await mkdtemp(join(tmpdir(), "glovebox-jupyter-"))
    try {
      await writeFile(join(folder, "output-1.html"), "mine")
      await using executor = jupyter({ workDir: folder })
      const code =
        "from IPython.display import *\ndisplay(HTML('shown'))\nopen('output-2.txt', 'w').write('x');"
      const result = await cell(executor, code)
      expect(result.artifacts.map(({ path }) => path)).toEqual(["output-2.txt", "output-3.html"])
      const names = (await readdir(folder)).filter((name) => name.startsWith("output"))
      expect(names.toSorted()).toEqual(["output-1.html", "output-2.txt", "output-3.html"])
      expect(await readFile(join(folder, "output-1.html"), "utf8")).toBe("mine")
      const { stdout } = await cell(executor, "import os\nprint(os.path.exists('output-3.html'))")
      expect(stdout).toBe("True\n")
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it("have no name that is in the folder, be it a link or a folder's", async () => {
    const folder = await mkdtemp(join(tmpdir(), "glovebox-jupyter-"))
    try {
      await writeFile(join(folder, "target"), "mine")
      await symlink("target", join(folder, "output-3.html"))
      await using executor = jupyter({ workDir: folder })
      const result = await cell(executor, SHOW)
      expect(result.artifacts.map(({ path }) => path)).toEqual(["output-4.html"])
      expect(await readFile(join(folder, "target"), "utf8")).toBe("mine")
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it.each([
    ["a folder", "os.mkdir('output-1.html')"],
    ["a link", "open('mine', 'w').close(); os.symlink('mine', 'output-1.html')"],
    ["a file too large to carry", "open('output-1.html', 'wb').write(bytes(3_000_000));"],
  ])("have no name that %s of the code has", async (_what, code) => {
    const folder = await mkdtemp(join(tmpdir(), "glovebox-jupyter-"))
    try {
      await using executor = jupyter({ workDir: folder, carry: { maxBytes: "1MiB" } })
      const look = "(os.lstat('output-1.html').st_mode, os.lstat('output-1.html').st_size)"
      const first = await cell(executor, `import os\n${code}\nbefore = ${look}\n${SHOW}`)
      expect(first.artifacts.map(({ path }) => path)).toContain("output-2.html")
      // Files of the folder are put into the container with the next call.
      const next = await cell(executor, `print(before == ${look}, os.path.exists('output-2.html'))`)
      expect(next.stdout).toBe("True True\n")
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it("have no name of an artifact of an earlier call, also when its file is gone", async () => {
    await using executor = jupyter()
    await cell(executor, "open('output-2.png', 'w').write('mine');")
    await cell(executor, "import os\nos.remove('output-2.png')")
    const { artifacts } = await cell(executor, SHOW)
    expect(artifacts.map(({ path }) => path)).toEqual(["output-3.html"])
  })
})
