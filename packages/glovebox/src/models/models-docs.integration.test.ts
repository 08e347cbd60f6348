import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { beforeAll, expect, it } from "vitest"
import { obligingServer } from "./openai/obliging-server.test-kit.ts"

const run = promisify(execFile)
const root = fileURLToPath(new URL("../../../..", import.meta.url))
const page = await readFile(join(root, "docs", "models.md"), "utf8")
const examples = new Map(
  [...page.matchAll(/<!-- example: (\w+) -->\s+```ts\n([^]*?)```/g)].map(([, name = "", code = ""]) => [
    name,
    code,
  ]),
)

const EXPECTED = {
  ask: "One, two. stop 5\n",
  stream: "One, two.\nstop\n",
  tools: '{"a":2,"b":3}\nRome\n',
  server: "One, two.\n",
  cache: "Seven. true\n",
  context: expect.stringMatching(/likes tea\.[^]*'two',\s+'three'/) as unknown,
}

const outputs = new Map<string, string>()

// All in one process, one after the other: to start one takes longer than all examples together.
beforeAll(async () => {
  const server = await obligingServer()
  // Inside the checkout, where the packages are found as in a project that has installed them.
  const folder = await mkdtemp(join(root, "node_modules", ".cache-models-docs-"))
  try {
    await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module" }))
    for (const [name, code] of examples) await writeFile(join(folder, `${name}.ts`), code)
    const imports = [...examples.keys()].map(
      (name) => `console.log("=== ${name}")\nawait import("./${name}.ts")\n`,
    )
    await writeFile(join(folder, "all.ts"), imports.join(""))
    const env = {
      ...process.env,
      OPENAI_API_KEY: "sk-test",
      OPENAI_BASE_URL: server.baseURL,
      MY_MODEL_SERVER: server.baseURL,
    }
    const args = ["--import", "tsx", "--conditions=@glovebox/source", join(folder, "all.ts")]
    const { stdout } = await run(process.execPath, args, { cwd: root, env })
    for (const [, name = "", output = ""] of stdout.matchAll(/^=== (\w+)\n([^]*?)(?=^=== |$(?![^]))/gm)) {
      outputs.set(name, output)
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
    await server.close()
  }
})

it.each(Object.entries(EXPECTED))("docs/models.md's example %j runs as it is pasted", (name, output) => {
  expect(outputs.get(name)).toEqual(output)
})

it("docs/models.md has no example that is not run", () => {
  expect([...examples.keys()]).toEqual(Object.keys(EXPECTED))
})
