import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { loadAgentsModule } from "./load-agents-module.ts"

const REGISTER = "export function register() { return 'registered' }"

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "glovebox-modules-"))
  const files = {
    "agents.mjs": REGISTER,
    "nothing.mjs": "export const agents = []",
    "broken.mjs": "throw new Error('no such database')",
    "node_modules/my-agents/package.json": '{ "type": "module", "exports": "./main.js" }',
    "node_modules/my-agents/main.js": REGISTER,
  }
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
})
afterAll(async () => rm(folder, { recursive: true, force: true }))

describe("a module with agents", () => {
  it.each(["agents.mjs", "./agents.mjs", "my-agents"])("is found as %s", async (name) => {
    const register = await loadAgentsModule(name, folder)
    expect((register as () => unknown)()).toBe("registered")
  })

  it.each([
    ["nothing.mjs", /exports no function "register"/],
    ["broken.mjs", /^broken\.mjs cannot be loaded: no such database$/],
    ["./absent.mjs", /does not exist/],
    ["absent", /neither a file nor a package/],
  ])("that is none is told in one line: %s", async (name, message) => {
    await expect(loadAgentsModule(name, folder)).rejects.toThrow(message)
  })
})
