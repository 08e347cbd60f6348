import { execFile } from "node:child_process"
import { mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

const run = promisify(execFile)
const packageFolder = fileURLToPath(new URL("..", import.meta.url))
const bin = fileURLToPath(new URL("../../../node_modules/.bin", import.meta.url))

interface AttwReport {
  readonly analysis: {
    readonly entrypoints: Record<
      string,
      { readonly resolutions: Record<string, { readonly resolution?: { readonly isTypeScript: boolean } }> }
    >
  }
}

let folder = ""
let tarball = ""
let subpaths: string[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "glovebox-package-"))
  await run("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: packageFolder })
  const [name = ""] = (await readdir(folder)).filter((file) => file.endsWith(".tgz"))
  tarball = join(folder, name)
  const manifest = JSON.parse(await readFile(join(packageFolder, "package.json"), "utf8")) as {
    exports: Record<string, unknown>
  }
  subpaths = Object.keys(manifest.exports).filter((path) => path !== "./package.json")
  await writeFile(
    join(folder, "package.json"),
    JSON.stringify({ name: "empty", private: true, type: "module" }),
  )
  await run("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", tarball], { cwd: folder })
})

afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
})

describe("the packed package", () => {
  it("passes publint", async () => {
    const { stdout } = await run(join(bin, "publint"), ["run", tarball, "--strict"])
    expect(stdout).toContain("All good!")
  })

  it("has types that resolve for every consumer that can import it", async () => {
    const attw = [tarball, "--profile", "esm-only", "--format", "json"]
    const { stdout } = await run(join(bin, "attw"), attw, { maxBuffer: 64 * 1024 ** 2 })
    const { analysis } = JSON.parse(stdout) as AttwReport
    for (const subpath of subpaths) {
      for (const kind of ["node16-esm", "bundler"]) {
        const resolution = analysis.entrypoints[subpath]?.resolutions[kind]?.resolution
        expect(resolution?.isTypeScript, `${subpath} for ${kind}`).toBe(true)
      }
    }
  })

  it("holds neither tests nor build leftovers", async () => {
    const { stdout } = await run("tar", ["-tzf", tarball])
    const files = stdout.split("\n")
    expect(files.filter((file) => /\.test|test-kit|tsbuildinfo/.test(file))).toEqual([])
    expect(files).toEqual(expect.arrayContaining(["package/dist/index.js", "package/bin/glovebox.js"]))
  })

  it("imports under every subpath in an empty folder", async () => {
    expect(subpaths).toContain("./core")
    const specifiers = subpaths.map((subpath) => subpath.replace(/^\./, "glovebox"))
    const code = `const counts = {}
for (const name of ${JSON.stringify(specifiers)}) counts[name] = Object.keys(await import(name)).length
console.log(JSON.stringify(counts))`
    const { stdout } = await run(process.execPath, ["--input-type=module", "-e", code], { cwd: folder })
    const counts = JSON.parse(stdout) as Record<string, number>
    expect(Object.keys(counts)).toEqual(specifiers)
    expect(specifiers.filter((name) => counts[name] === 0)).toEqual([])
  })

  it("brings the command", async () => {
    const { stdout } = await run("npx", ["--no-install", "glovebox", "--help"], { cwd: folder })
    expect(stdout).toContain("Usage: glovebox")
  })

  it("type-checks a strict consumer", async () => {
    await writeFile(
      join(folder, "consumer.ts"),
      `import { RoutedAgent, SingleThreadedAgentRuntime, agentId, defineMessage } from "glovebox/core"
import { z } from "zod"
const Ask = defineMessage("Ask", z.object({ n: z.number() }))
const Answer = defineMessage("Answer", z.object({ twice: z.number() }))
class Doubler extends RoutedAgent {
  constructor() {
    super("Doubles.")
    this.on(Ask, ({ n }) => Answer({ twice: 2 * n }))
  }
}
const runtime = new SingleThreadedAgentRuntime()
await runtime.register("doubler", () => new Doubler())
runtime.start()
const { twice } = await runtime.send(Ask({ n: 21 }), agentId("doubler"), { expect: Answer })
const exact: number = twice
// @ts-expect-error n must be a number
export const misuse = (): unknown => Ask({ n: "21" })
console.log(exact)
`,
    )
    const options = [
      "--strict",
      "--module",
      "nodenext",
      "--target",
      "es2023",
      "--types",
      "",
      "--outDir",
      "out",
    ]
    await run(join(bin, "tsc"), [...options, "--lib", "es2023,esnext.disposable,dom", "consumer.ts"], {
      cwd: folder,
    })
    const { stdout } = await run(process.execPath, ["out/consumer.js"], { cwd: folder })
    expect(stdout).toBe("42\n")
  })
})
