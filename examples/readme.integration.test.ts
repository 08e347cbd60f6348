import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { expect, it } from "vitest"

const run = promisify(execFile)
const root = fileURLToPath(new URL("..", import.meta.url))
const readme = await readFile(join(root, "README.md"), "utf8")

/** The first fenced block of a language after a text. */
function block(language: string, after: string): string {
  const from = readme.indexOf(after)
  const match = new RegExp("```" + language + "\\n([^]*?)```").exec(readme.slice(from))
  if (from < 0 || !match) throw new Error(`README.md has no ${language} block after ${after}`)
  return match[1] ?? ""
}

const hasEngine = process.env["GLOVEBOX_TEST_DOCKER"] !== "unavailable"

/** What the README shows of the output, in its order; "..." stands for what is left out. */
function shown(): string[] {
  return block("text", "<!-- main command -->")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && line !== "...")
}

/** Those of the lines that are not in the output, or not in this order. */
function missing(lines: readonly string[], stdout: string): string[] {
  let rest = stdout.split("\n").map((line) => line.trim())
  return lines.filter((line) => {
    const at = rest.indexOf(line)
    if (at !== -1) rest = rest.slice(at + 1)
    return at === -1
  })
}

it.skipIf(!hasEngine)("README's main command prints what the README says, from code in Docker", async () => {
  const command = block("sh", "<!-- main command -->").trim()
  expect(command).toBe("npm ci && npm start")
  const { stdout } = await run("npm", ["start", "--silent"], { cwd: root })
  expect(missing(shown(), stdout)).toEqual([])
  expect(stdout).toMatch(/^ +docker \(\w+\), image /m)
})

it("README's main command does so without an engine too, in the embedded sandbox", async () => {
  const env = { ...process.env, DOCKER_HOST: "unix:///nonexistent/docker.sock" }
  const { stdout, stderr } = await run("npm", ["start", "--silent"], { cwd: root, env })
  expect(missing(shown(), stdout)).toEqual([])
  expect(stdout).toMatch(/^ +wasm, policy /m)
  expect(stderr).toContain("start: without a Docker engine this runs in the embedded sandbox")
})

it.skipIf(!hasEngine).each([
  ["## Run code in the box", "[1, 4, 9, 16, 25]\n"],
  ["## Agents live in a runtime", "Hello, Ada!\n"],
])("README's example in %j runs as it is pasted", async (heading, output) => {
  // Inside the checkout, where "glovebox" and "zod" are found as in a project that has installed them.
  const folder = await mkdtemp(join(root, "node_modules", ".cache-readme-"))
  try {
    const file = join(folder, "pasted.ts")
    await writeFile(file, block("ts", heading))
    await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module" }))
    const { stdout } = await run("npx", ["--no-install", "tsx", file], { cwd: root })
    expect(stdout).toBe(output)
  } finally {
    await rm(folder, { recursive: true })
  }
})
