import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { IMAGE, buildCommand, containersOf, useOwnFolder } from "./glovebox.test-kit.ts"
import { MAKE_PICTURE, startMcp, textOf } from "./mcp-client.test-kit.ts"

let folder = ""
let leave = async (): Promise<void> => {}

beforeAll(async () => {
  await buildCommand()
  leave = await useOwnFolder()
  folder = await mkdtemp(join(tmpdir(), "glovebox-mcp-docker-"))
})

afterAll(async () => {
  await leave()
  await rm(folder, { recursive: true, force: true })
})

async function policy(fields: object): Promise<string> {
  const file = join(folder, "glovebox.policy.json")
  await writeFile(file, JSON.stringify({ image: IMAGE, runtime: "runc", ...fields }))
  return file
}

describe("glovebox mcp in Docker", () => {
  it("runs code and commands in fresh containers, whose files stay, and leaves none", async () => {
    const at = await startMcp("--sandbox", "docker", "--policy", await policy({}))
    const { tools } = await at.client.listTools()
    expect(tools.map(({ name }) => name)).toContain("run_shell")
    expect(at.client.getInstructions()).toMatch(/hardened containers.*no network/)
    const where =
      "import os\nprint(os.getuid(), os.listdir('/sys/class/net'))\nopen('made', 'w').write('by python')"
    expect(textOf(await at.call("run_code", { code: where }))).toContain("65532 ['lo']")
    expect(textOf(await at.call("run_shell", { command: "cat made && echo . && touch /etc/x" }))).toMatch(
      /^by python\.\n.*Read-only file system[^]*It ended with exit code 1\.$/,
    )
    const picture = await at.call("run_code", { code: MAKE_PICTURE })
    expect(picture.content.map(({ type }) => type)).toEqual(["text", "image"])
    expect((await at.call("get_artifact", { path: "dot.png" })).content).toMatchObject([{ type: "image" }])
    expect(await containersOf(at.pid)).not.toEqual([])
    await at[Symbol.asyncDispose]()
    expect(await containersOf(at.pid)).toEqual([])
  })

  it("tells what the policy denies, and shows output while the code runs", async () => {
    const file = await policy({ network: { allow: ["api.example.com:443"] }, limits: { wall: "20s" } })
    await using at = await startMcp("--sandbox", "docker", "--policy", file)
    expect(at.client.getInstructions()).toContain(
      "The network reaches api.example.com:443, and nothing else.",
    )
    const code = `
import time, urllib.request
print("trying", flush=True)
time.sleep(0.5)
urllib.request.urlopen("https://evil.example/")
`
    const seen: unknown[] = []
    const denied = await at.client.callTool(
      { name: "run_code", arguments: { code } },
      { onprogress: ({ message }) => void seen.push(message) },
    )
    expect(seen[0]).toBe("trying\n")
    expect(denied.isError).toBe(true)
    expect(textOf(denied)).toContain(
      "\nDenied: evil.example:443 is not in network.allow. Do without evil.example",
    )
  })

  it("works in a folder of the operator, and keeps packages and files in a session", async () => {
    const workDir = join(folder, "work")
    const file = await policy({})
    await using at = await startMcp(
      "--sandbox",
      "docker",
      "--policy",
      file,
      "--work-dir",
      workDir,
      "--isolation",
      "session",
    )
    await at.call("run_shell", { command: "echo kept > /tmp/outside; echo out > inside" })
    expect(await readFile(join(workDir, "inside"), "utf8")).toBe("out\n")
    expect(textOf(await at.call("run_shell", { command: "cat /tmp/outside" }))).toBe("kept")
  })
})
