import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { describe, expect, it } from "vitest"

const run = promisify(execFile)
const root = fileURLToPath(new URL("../..", import.meta.url))

/** Every example of a page, with what it prints. */
function examplesOf(page: string): { readonly code: string; readonly output: string }[] {
  const text = readFileSync(join(root, "docs", page), "utf8")
  return [...text.matchAll(/```ts\n([^]*?)```\n(?:\n```text\n([^]*?)```)?/g)].map(
    ([, code = "", output = ""]) => ({
      code,
      output,
    }),
  )
}

describe.each(["tools.md", "mcp.md"])("docs/%s", (page) => {
  const examples = examplesOf(page)

  it("has examples, each with what it prints", () => {
    expect(examples.length).toBeGreaterThan(1)
    expect(examples.filter(({ output }) => output === "")).toEqual([])
  })

  it.each(examples.map((example, index) => [index + 1, example] as const))(
    "example %i prints what the page says",
    async (_, { code, output }) => {
      // Inside the checkout, where packages are found as in a project that has installed them.
      const folder = await mkdtemp(join(root, "node_modules", ".cache-docs-"))
      try {
        await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module" }))
        await writeFile(join(folder, "pasted.ts"), code)
        const { stdout } = await run("npx", ["--no-install", "tsx", join(folder, "pasted.ts")], { cwd: root })
        expect(stdout).toBe(output)
      } finally {
        await rm(folder, { recursive: true })
      }
    },
  )
})
