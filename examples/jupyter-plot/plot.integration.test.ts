import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { expect, it } from "vitest"

const hasEngine = process.env["GLOVEBOX_TEST_DOCKER"] !== "unavailable"

it.skipIf(!hasEngine)("the plot is a picture of some size", async () => {
  const folder = await mkdtemp(join(tmpdir(), "glovebox-plot-"))
  try {
    const file = join(folder, "waves.png")
    const example = fileURLToPath(new URL("plot.ts", import.meta.url))
    const { stdout } = await promisify(execFile)("npx", ["--no-install", "tsx", example, file], {
      cwd: fileURLToPath(new URL("../..", import.meta.url)),
    })
    expect(stdout).toBe(`drew 2 lines of 400 points\nwrote ${file}\n`)
    const picture = await readFile(file)
    expect(picture.toString("latin1", 1, 4)).toBe("PNG")
    // The width and height in its header.
    expect([picture.readUInt32BE(16) > 400, picture.readUInt32BE(20) > 300]).toEqual([true, true])
  } finally {
    await rm(folder, { recursive: true })
  }
})
