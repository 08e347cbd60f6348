import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import { loadConfig, parseConfig } from "./load-config.ts"

let root = ""
let count = 0

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "glovebox-config-"))
})

afterAll(async () => {
  await rm(root, { recursive: true, force: true })
})

/** A folder of its own with these files. */
async function folder(files: Readonly<Record<string, string>>): Promise<string> {
  count += 1
  const path = join(root, String(count))
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(path, name, ".."), { recursive: true })
    await writeFile(join(path, name), text)
  }
  return path
}

const FULL = `
model:
  provider: openai
  name: gpt-5-mini
  base_url: https://gateway.example.com/v1
  api_key_env: GATEWAY_KEY
  options: { temperature: 0, max_tokens: 900 }
sandbox: wasm
policy: { limits: { wall: 5s } }
approve: ask
max_turns: 7
system_message: Be brief.
`

describe("parseConfig", () => {
  it("reads everything, as YAML and as JSON", () => {
    const config = parseConfig(FULL, "c.yaml")
    expect(config).toMatchObject({
      model: { name: "gpt-5-mini", api_key_env: "GATEWAY_KEY", options: { max_tokens: 900 } },
      sandbox: "wasm",
      approve: "ask",
      max_turns: 7,
    })
    expect(parseConfig(JSON.stringify(config), "c.json")).toEqual(config)
    expect(parseConfig("", "c.yaml")).toEqual({})
  })

  it("reads what the documentation shows", async () => {
    const page = await readFile(new URL("../../../../../docs/cli.md", import.meta.url), "utf8")
    const [, shown = ""] = /```yaml\n(model:[^]*?)```/.exec(page) ?? []
    const [, rules = ""] = /```yaml\n(audit:[^]*?)```/.exec(page) ?? []
    expect(Object.keys(parseConfig(shown + rules, "cli.md"))).toEqual([
      "model",
      "sandbox",
      "policy",
      "approve",
      "max_turns",
      "system_message",
      "audit",
      "approval",
      "access",
      "redaction",
      "filter",
    ])
  })

  it.each([
    ["modle: gpt-5\n", /c\.yaml:1:\d+: modle: is not known; did you mean "model"\?/],
    ["maxTurns: 5\n", /c\.yaml:1:\d+: maxTurns: is not known; did you mean "max_turns"\?/],
    [
      "model:\n  provider: openai\n  nmae: x\n",
      /c\.yaml:3:\d+: model\.nmae: is not known; did you mean "name"\?/,
    ],
    ["model:\n  provider: openia\n  name: x\n", /c\.yaml:2:13: model\.provider: must be one of openai/],
    ["sandbox: local\n", /c\.yaml:1:10: sandbox: must be one of auto, docker/],
    ["approve: sometimes\n", /approve: must be one of ask, always, never/],
    ["max_turns: 0\n", /max_turns: must be from 1 to 100/],
    ["model: { provider: openai, name: x, api_key_env: sk 1 }\n", /not the name of an environment variable/],
    ["model: { provider: openai, name: x, options: { base_url: http://x } }\n", /belongs beside options/],
    ["model: { provider: openai, name: x, options: { base_u_r_l: http://x } }\n", /belongs beside options/],
    ["model: [\n", /c\.yaml:\d+:\d+: /],
  ])("points at the line of what is wrong in %j", (text, message) => {
    const failure = failureOf(() => parseConfig(text, "c.yaml"))
    expect(failure).toMatch(/^CONFIG_INVALID: /)
    expect(failure).toMatch(message)
  })

  it.each([
    "model: { provider: openai, name: x, api_key: hunter2hunter2 }\n",
    "model: { provider: openai, name: x, options: { apiKey: hunter2hunter2 } }\n",
    "model: { provider: openai, name: x, options: { headers: { Authorization: hunter2hunter2 } } }\n",
    "model: { provider: openai, name: sk-hunter2hunter2hunter2 }\n",
    "policy: { env: { KEY: sk-hunter2hunter2hunter2 } }\n",
  ])("refuses a key in the file, says what to do, and does not repeat it: %j", (text) => {
    const failure = failureOf(() => parseConfig(text, "c.yaml"))
    expect(failure).toMatch(/^CONFIG_INVALID: [^]*is a secret[^]*api_key_env: MY_KEY/)
    expect(failure).not.toContain("hunter2")
  })
})

describe("loadConfig", () => {
  it("finds the file in the folder and above it, up to the repository's", async () => {
    const home = await folder({
      "glovebox.config.yaml": "max_turns: 1\n",
      "repository/.git/HEAD": "",
      "repository/glovebox.config.yml": "max_turns: 2\n",
      "repository/a/b/c.txt": "",
      "other/.git/HEAD": "",
      "other/a/c.txt": "",
      "plain/a/c.txt": "",
    })
    const turnsAt = async (path: string): Promise<number | undefined> =>
      (await loadConfig({ folder: join(home, path), home })).max_turns
    expect(await turnsAt("repository/a/b")).toBe(2)
    expect(await turnsAt("other/a")).toBeUndefined()
    expect(await turnsAt("plain/a")).toBe(1)
  })

  it("looks at nothing above a folder that is in no repository and not at home", async () => {
    const path = await folder({ "glovebox.config.yaml": "max_turns: 1\n", "a/c.txt": "" })
    const home = await folder({ "c.txt": "" })
    expect((await loadConfig({ folder: join(path, "a"), home })).file).toBeUndefined()
    expect(await loadConfig({ folder: path, home })).toMatchObject({ max_turns: 1, isNamed: false })
  })

  it("does not choose between two", async () => {
    const path = await folder({ "glovebox.config.yaml": "", "glovebox.config.json": "{}" })
    await expectFailure(
      loadConfig({ folder: path }),
      "CONFIG_INVALID",
      /Both glovebox\.config\.yaml and glovebox\.config\.json/,
    )
  })

  it("reads the policy beside it, or in it", async () => {
    const path = await folder({
      "sub/c.yaml": "policy: ../p.yaml\n",
      "p.yaml": "limits: { wall: 9s }\n",
      "inline.yaml": "policy: { limits: { wall: 7s } }\n",
      "bad.yaml": "policy: { limits: { wal: 7s } }\n",
    })
    const named = await loadConfig({ folder: path, file: "sub/c.yaml" })
    expect([named.isNamed, named.policy?.fields.limits.wall]).toEqual([true, 9000])
    expect((await loadConfig({ folder: path, file: "inline.yaml" })).policy?.fields.limits.wall).toBe(7000)
    await expectFailure(
      loadConfig({ folder: path, file: "bad.yaml" }),
      "CONFIG_INVALID",
      /bad\.yaml: policy: [^]*did you mean "wall"/,
    )
  })

  it("says which file cannot be read", async () => {
    const path = await folder({ "c.txt": "" })
    await expectFailure(
      loadConfig({ folder: path, file: "absent.yaml" }),
      "CONFIG_INVALID",
      /absent\.yaml cannot be read/,
    )
  })

  it.runIf(process.getuid?.() === 0)("does not use another user's file that it only found", async () => {
    const path = await folder({ "glovebox.config.yaml": "max_turns: 1\n" })
    const file = join(path, "glovebox.config.yaml")
    const { chown } = await import("node:fs/promises")
    await chown(file, 12_345, 12_345)
    await chmod(file, 0o644)
    await expectFailure(loadConfig({ folder: path }), "CONFIG_INVALID", /belongs to another user/)
    expect(await loadConfig({ folder: path, file })).toMatchObject({ max_turns: 1 })
  })
})
