import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, beforeAll, expect, it } from "vitest"
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

let server: Awaited<ReturnType<typeof obligingServer>>
let folder: string

beforeAll(async () => {
  server = await obligingServer()
  // Inside the checkout, where the packages are found as in a project that has installed them.
  folder = await mkdtemp(join(root, "node_modules", ".cache-models-docs-"))
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module" }))
})

afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
  await server.close()
})

it.each([
  ["ask", "One, two. stop 5\n"],
  ["stream", "One, two.\nstop\n"],
  ["tools", '{"a":2,"b":3}\nRome\n'],
  ["server", "One, two.\n"],
  ["cache", "Seven. true\n"],
  ["context", expect.stringMatching(/likes tea\.[^]*'two',\s+'three'/)],
])("docs/models.md's example %j runs as it is pasted", async (name, output) => {
  const file = join(folder, `${name}.ts`)
  await writeFile(file, examples.get(name) ?? "")
  const env = {
    ...process.env,
    OPENAI_API_KEY: "sk-test",
    OPENAI_BASE_URL: server.baseURL,
    MY_MODEL_SERVER: server.baseURL,
  }
  const { stdout } = await run("npx", ["--no-install", "tsx", "--conditions=@glovebox/source", file], {
    cwd: root,
    env,
  })
  expect(stdout).toEqual(output)
})

it("docs/models.md has no example that is not run", () => {
  expect([...examples.keys()]).toEqual(["ask", "stream", "tools", "server", "cache", "context"])
})
