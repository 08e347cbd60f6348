/* oxlint-disable unicorn/no-thenable -- here `then` is a word, which no await takes for a promise */
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import { parseConfig } from "./load-config.ts"
import { refuseWeakening } from "./refuse-weakening.ts"

let folder = ""

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "glovebox-weaken-"))
  await mkdir(join(folder, "project", "logs"), { recursive: true })
  await symlink(folder, join(folder, "project", "out"))
})

afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
})

async function check(text: string, isNamed = false): Promise<void> {
  const { policy: _file, ...fields } = parseConfig(text, "c.yaml")
  const file = join(folder, "project", "glovebox.config.yaml")
  await refuseWeakening({ ...fields, policy: undefined, file, isNamed })
}

const STRICTER = `
audit: { path: logs/a.jsonl, content: true }
approval: { rules: [{ when: { tool: "*" }, then: ask }, { when: { language: bash }, then: deny }] }
access: { rules: [{ agents: assistant, tools: execute_code, executors: docker, policy: deny-all }] }
redaction: { values_from_env: [MY_VALUE] }
filter: { actions: { credential: block } }
`

describe("a configuration that was only found", () => {
  it("may ask for more care", async () => {
    await expect(check(STRICTER)).resolves.toBeUndefined()
  })

  it.each([
    ["no log", "audit: false\n", /keep no audit log/],
    ["a log that may be missing", "audit: { required: false }\n", /go on without an audit log/],
    ["a log elsewhere", "audit: { path: ../a.jsonl }\n", /outside of its folder/],
    ["a log at the root", "audit: { path: /tmp/a.jsonl }\n", /outside of its folder/],
    ["a log behind a link", "audit: { path: out/new/a.jsonl }\n", /outside of its folder/],
    ["a rule that allows", "approval: { rules: [{ when: {}, then: allow }] }\n", /allow what is asked for/],
    [
      "words of its choice",
      'redaction: { patterns: [{ name: a, pattern: "exec.{0,80}" }] }\n',
      /to hide words/,
    ],
    ["patterns", 'filter: { extend: [{ name: a, pattern: "x" }] }\n', /patterns of its own/],
  ])("may not ask for %s, and is let when it is named", async (_, text, message) => {
    await expectFailure(check(text), "CONFIG_INVALID", message)
    await check(text, true)
  })
})

describe("parseConfig, of governance", () => {
  it.each([
    [
      "audit: { pth: a }\n",
      /audit\.pth: is not known; did you mean "path"\? Known here: path, content, required/,
    ],
    ["audit: yes please\n", /audit: /],
    ["approval: { rules: [{ when: {}, then: maybe }] }\n", /approval\.rules\.0\.then/],
    ['redaction: { patterns: [{ name: a, pattern: "(" }] }\n', /is no regular expression/],
    ["redaction: { values_from_env: [a b] }\n", /not the name of an environment variable/],
    ["filter: { actions: { network: drop } }\n", /must be one of flag, strip, block/],
  ])("points at what is wrong in %j", (text, message) => {
    const failure = failureOf(() => parseConfig(text, "c.yaml"))
    expect(failure).toMatch(/^CONFIG_INVALID: /)
    expect(failure).toMatch(message)
  })
})
